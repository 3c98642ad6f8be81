// What the views share: states of loading, small components, and what may be changed.

import { createContext, html, useCallback, useContext, useEffect, useRef, useState } from "./vendor/preact-htm.js";
import { snapshot } from "./api.js";
import { routeTo } from "./route.js";
import { counted, day, lineOf, minute, revealed, sentence, split, utcMinute, whole } from "./text.js";

export const Page = createContext(null);

// { user, memory, session, params, id, go, unlock, recheck }
export function usePage() {
  return useContext(Page);
}

// Asks once for each change of `about`: [answer, error, ask again].
export function useAnswer(ask, about) {
  const [state, setState] = useState({ about: null });
  const [turn, setTurn] = useState(0);
  const key = JSON.stringify(about);
  useEffect(() => {
    let wanted = true;
    setState((old) => (old.about === key ? old : { about: key }));
    ask().then(
      (answer) => wanted && setState({ about: key, answer }),
      (error) => wanted && setState({ about: key, error }),
    );
    return () => {
      wanted = false;
    };
  }, [key, turn]);
  const again = useCallback(() => setTurn((n) => n + 1), []);
  return state.about === key ? [state.answer, state.error, again] : [undefined, undefined, again];
}

const SLOW = 3;

export function Loading({ what = "Loading", why }) {
  const [seconds, setSeconds] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => setSeconds((n) => n + 1), 1000);
    return () => clearInterval(timer);
  }, []);
  return html`<p class="loading" role="status"><span class="spinner" aria-hidden="true"></span><span>${what}…${seconds >= SLOW && html` <span aria-hidden="true">${counted(seconds, "second")}</span>${why && html`<br />${why}`}`}</span></p>`;
}

const PROBLEMS = { 0: "No connection", 401: "You are signed out", 403: "Not allowed", 404: "Not found", 429: "Too many requests" };

export function Problem({ error, again }) {
  return html`<div class="notice problem" role="alert">
    <strong>${(error.code === "not_exported" && "Not in this file") || PROBLEMS[error.status] || (error.status >= 500 ? "The server failed" : "That did not work")}</strong>
    <p>${sentence(error.message)}${error.wait ? ` Try again in ${counted(error.wait, "second")}.` : ""}</p>
    ${error.status === 401 ? html`<button onClick=${() => location.reload()}>Sign in</button>` : again && !snapshot && html`<button onClick=${again}>Try again</button>`}
  </div>`;
}

export function Empty({ title, children }) {
  return html`<div class="notice empty"><strong>${title}</strong>${children && html`<p>${children}</p>`}</div>`;
}

// Shows what an answer holds, or how far it is.
export function Answered({ of: [answer, error, again], what, why, children }) {
  if (error) return html`<${Problem} error=${error} again=${again} />`;
  if (answer === undefined) return html`<${Loading} what=${what} why=${why} />`;
  return children(answer);
}

export function Field({ label, children, hint, wide }) {
  return html`<label class=${wide ? "field wide" : "field"}><span>${label}</span>${children}${hint && html`<small>${hint}</small>`}</label>`;
}

export function Kind({ memory }) {
  const name = memory.kind || memory.type;
  return html`<span class="kind">${name}</span>`;
}

// A moment in the reader's time zone; in UTC when pointed at.
export function Time({ at }) {
  return at ? html`<time datetime=${at} title=${utcMinute(at)}>${minute(at)}</time>` : null;
}

const TAGS = 40;

export function Tags({ tags }) {
  const [all, setAll] = useState(false);
  if (!tags || tags.length === 0) return null;
  return html`<span class="tags">${tags.slice(0, all ? undefined : TAGS).map((tag) => html`<span class="tag">${tag}</span>`)}
    ${tags.length > TAGS && !all && html`<button class="link" onClick=${() => setAll(true)}>Show all ${counted(tags.length, "tag")}</button>`}</span>`;
}

// A text with the quote marked in it. Of a doubtful one, everything is seen.
export function Quoted({ text: given, quote, name = "quote" }) {
  const seen = name === "doubt" ? revealed : (one) => one;
  const text = seen(given);
  const parts = split(text, quote && seen(quote));
  return parts ? html`${parts[0]}<mark class=${name}>${parts[1]}</mark>${parts[2]}` : html`${text}`;
}

const LONG = 6000;

// A text; of a long one, the part around its quote.
function Said({ text, quote, name }) {
  const [all, setAll] = useState(false);
  const folded = !all && text.length > LONG;
  const parts = folded && split(text, quote);
  const start = parts ? Math.max(0, parts[0].length - LONG / 4) : 0;
  const shown = folded ? whole(text.slice(start, start + LONG / 2 + (quote || "").length)) : text;
  return html`<p class="said">${start > 0 && "… "}<${Quoted} text=${shown} quote=${quote} name=${name} />${folded && "…"}</p>
    ${folded && html`<button class="link" onClick=${() => setAll(true)}>Show all ${counted(text.length, "character")}</button>`}`;
}

export function StateOf({ memory }) {
  if (memory.superseded_by) return html`<span class="badge gone">replaced</span>`;
  if (memory.status !== "active") return html`<span class="badge waits">${memory.status === "candidate" ? "proposed" : memory.status}</span>`;
  return memory.pinned ? html`<span class="badge">pinned</span>` : null;
}

// A memory in one line, leading to its page.
export function MemoryLine({ memory, note }) {
  const { user } = usePage();
  return html`<a class=${`memory-line${memory.superseded_by ? " replaced" : ""}`} href=${routeTo(user, "memory", memory.id)}>
    <span class="memory-text">${lineOf(memory)}</span>
    <span class="meta"><${Kind} memory=${memory} /> ${day(memory.created_at)} <${StateOf} memory=${memory} />${note && html` <span>${note}</span>`}</span>
  </a>`;
}

// A turn; `quote` is marked in it, as the kind of mark that `mark` names.
export function Turn({ turn, quote, mark, children, current }) {
  const label = turn.name || (turn.role === "agent" ? "assistant" : turn.role);
  return html`<article class=${`turn ${turn.role === "user" ? "from-user" : "from-other"}${current ? " current" : ""}`} id=${`turn-${turn.id}`}>
    <header><strong>${label}</strong> <${Time} at=${turn.created_at} />${turn.off_record && html` <span class="badge waits">off the record</span>`}</header>
    <${Said} text=${turn.content} quote=${quote} name=${mark} />
    ${children}
  </article>`;
}

// A button for a change: asks to unlock first, says what went wrong.
export function Change({ does, done, children, primary, danger, disabled, label }) {
  const { unlock, recheck } = usePage();
  const [state, setState] = useState({});
  const run = async () => {
    if (!(await unlock())) return;
    setState({ busy: true });
    try {
      const result = await does();
      setState({});
      if (done) done(result);
    } catch (error) {
      setState({ error });
      if (error.status === 403) await recheck(); // another tab may have taken the permission back
    }
  };
  if (snapshot) return null;
  return html`<span class="change">
    <button class=${primary ? "primary" : danger ? "danger" : ""} aria-label=${label} disabled=${disabled || state.busy} onClick=${run}>${state.busy ? "Working…" : children}</button>
    ${state.error && html`<span class="said-wrong" role="alert">${sentence(state.error.message)}</span>`}
    ${state.error && state.error.status === 401 && html`<button onClick=${() => location.reload()}>Sign in</button>`}
  </span>`;
}

// A modal question; it closes with Escape, and gives the focus back.
export function Dialog({ title, close, children }) {
  const box = useRef(null);
  useEffect(() => {
    const [dialog, before] = [box.current, document.activeElement];
    dialog.showModal();
    return () => {
      dialog.close(); // what lies behind a modal dialog takes no focus
      if (before && before.focus) before.focus();
    };
  }, []);
  return html`<dialog ref=${box} aria-labelledby="dialog-title" onCancel=${(event) => { event.preventDefault(); close(); }}>
    <h2 id="dialog-title">${title}</h2>${children}
  </dialog>`;
}

export function Copy({ text, children }) {
  const [done, setDone] = useState(false);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      setDone(true);
      setTimeout(() => setDone(false), 1500);
    } catch {
      setDone(null); // a page without HTTPS may not
    }
  };
  return html`<button onClick=${copy}>${done ? "Copied" : children || "Copy"}</button>${done === null && html`<pre class="code">${text}</pre>`}`;
}

// A button that loads what follows, and says what went wrong.
export function More({ load, children }) {
  const [state, setState] = useState({});
  const run = async () => {
    setState({ busy: true });
    try {
      await load();
      setState({});
    } catch (error) {
      setState({ error });
    }
  };
  return html`<button class="more" disabled=${state.busy} onClick=${run}>${state.busy ? "Loading…" : children}</button>${state.error && html` <span class="said-wrong" role="alert">${sentence(state.error.message)}</span>`}`;
}

// A list that shows a part and the rest on demand.
export function Part({ items, size = 100, noun = "item", nouns, children }) {
  const [shown, setShown] = useState(size);
  return html`${items.slice(0, shown).map(children)}
    ${items.length > shown && html`<button class="more" onClick=${() => setShown(shown + size)}>Show more of ${counted(items.length, noun, nouns)}</button>`}`;
}
