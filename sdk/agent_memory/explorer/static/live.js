// Live: a conversation beside the facts that appear, and are struck through, as it is processed.

import { html, useEffect, useRef, useState } from "./vendor/preact-htm.js";
import { snapshot } from "./api.js";
import { routeTo } from "./route.js";
import { reasonOf } from "./text.js";
import { Change, Empty, Kind, Problem, Turn, usePage } from "./ui.js";

const RHYTHM = 1500;

export function Live() {
  const { memory, user, id } = usePage();
  const [thread] = useState(id || `live-${new Date().toISOString().slice(0, 16).replace(/\D/g, "")}`);
  const [turns, setTurns] = useState([]);
  const [facts, setFacts] = useState([]);
  const [waiting, setWaiting] = useState(0);
  const [text, setText] = useState("");
  const [role, setRole] = useState("user");
  const [error, setError] = useState(null);
  const [told, setTold] = useState("");
  const known = useRef(null);
  const look = async () => {
    try {
      const [talk, found, threads] = await Promise.all([
        memory.turns(thread, { last: 100 }),
        memory.memories({ include_superseded: true, limit: 100, types: ["fact", "procedural"] }),
        memory.threads({ limit: 20 }),
      ]);
      setTurns(talk.turns);
      if (known.current === null) known.current = new Set(found.memories.filter((one) => !one.superseded_by && one.thread_id !== thread).map((one) => one.id));
      setFacts(found.memories);
      const here = threads.threads.find((one) => one.thread_id === thread);
      setWaiting(here ? here.unprocessed_turns : 0);
      setError(null);
    } catch (problem) {
      setError(problem);
    }
  };
  useEffect(() => {
    if (snapshot) return undefined;
    let timer = 0;
    let over = false;
    const go_on = async () => {
      if (!document.hidden) await look();
      if (!over) timer = setTimeout(go_on, RHYTHM);
    };
    go_on();
    return () => {
      over = true;
      clearTimeout(timer);
    };
  }, [user, thread]);
  if (snapshot) return html`<div class="view"><h1>Live</h1><${Empty} title="Not in a file">Open the explorer on a store to talk.<//></div>`;
  const say = async () => {
    await memory.add(thread, [{ role, content: text.trim() }]);
    setText("");
    await look();
  };
  const process = async () => {
    const run = await memory.process("extract", thread);
    const { rejected = [], skipped_reason: skipped } = run.result || {};
    setTold(run.error || skipped || rejected.join("; ") || "");
    await memory.process("reconcile").catch((problem) => setError(problem));
    await look();
  };
  const fresh = facts.filter((one) => one.thread_id === thread || (known.current && known.current.has(one.id) && one.superseded_by) || (known.current && !known.current.has(one.id) && !one.superseded_by));
  return html`<div class="view live"><div class="head"><h1>Live</h1><span class="quiet">in ${thread}</span></div>
    ${error && html`<${Problem} error=${error} />`}
    <div class="pair"><section aria-label="Conversation"><h2>Say something</h2>
      <div class="talk">${turns.map((turn) => html`<${Turn} key=${turn.id} turn=${turn} />`)}${turns.length === 0 && html`<${Empty} title="An empty conversation">Say “My budget for the trip is $3,000.”, learn, then “We raised the budget for the trip to $4,000.”, and learn again.<//>`}</div>
      <form class="say" onSubmit=${(event) => event.preventDefault()}>
        <label class="field"><span>Turn</span><textarea rows="2" value=${text} onInput=${(event) => setText(event.target.value)}></textarea></label>
        <div class="actions"><select aria-label="Who says it" value=${role} onChange=${(event) => setRole(event.target.value)}><option value="user">as the user</option><option value="assistant">as the assistant</option></select>
          <${Change} primary disabled=${!text.trim()} does=${say}>Say it<//>
          <${Change} disabled=${waiting === 0} does=${process}>Learn now<//></div>
        <p class="quiet" role="status">${waiting > 0 ? `${waiting} turns wait; they are learned from after ten turns or a pause, or with “Learn now”.` : "Nothing waits."}${told && ` Not kept: ${told}.`}</p>
      </form></section>
    <section aria-label="What is remembered" aria-live="polite"><h2>Remembered</h2>
      ${fresh.length === 0 && html`<${Empty} title="Nothing new yet">What is learned from this conversation appears here.<//>`}
      <ul class="plain facts-live">${fresh.map((one) => html`<li key=${one.id} class=${one.superseded_by ? "struck" : "fresh"}><a href=${routeTo(user, "memory", one.id)}>${one.content}</a> <${Kind} memory=${one} /> ${one.superseded_by && html`<span class="quiet">${reasonOf(one)}</span>`}</li>`)}</ul>
    </section></div></div>`;
}
