// Live: a conversation beside the facts that appear, and are struck through, as it is processed.

import { html, useEffect, useRef, useState } from "./vendor/preact-htm.js";
import { follow, snapshot } from "./api.js";
import { replaceRoute, routeTo } from "./route.js";
import { counted, lineOf, reasonOf } from "./text.js";
import { Change, Empty, Kind, Loading, Problem, Turn, usePage } from "./ui.js";

const LOOK = 10_000;

// The conversation and the memories, read again whenever something may have changed: [found, error, connected, read].
function useLive(memory, user, thread) {
  const [found, setFound] = useState(null);
  const [error, setError] = useState(null);
  const [connected, setConnected] = useState(null);
  const known = useRef(null);
  const reading = useRef(null);
  const read = async () => {
    try {
      const [talk, facts, threads] = await Promise.all([
        memory.turns(thread, { last: 100 }),
        memory.memories({ include_superseded: true, limit: 100, types: ["fact", "procedural"] }),
        memory.threads({ limit: 20 }),
      ]);
      const items = facts.memories;
      if (known.current === null) known.current = new Set(items.filter((one) => !one.superseded_by && one.thread_id !== thread).map((one) => one.id));
      const fresh = items.filter((one) => one.thread_id === thread || known.current.has(one.id) === !!one.superseded_by);
      const here = threads.threads.find((one) => one.thread_id === thread);
      setFound({ turns: talk.turns, fresh, waiting: here ? here.unprocessed_turns : 0 });
      setError(null);
    } catch (problem) {
      setError(problem);
    }
  };
  // One at a time: what changes meanwhile is read once more afterwards.
  const look = () => {
    if (document.hidden) return reading.current;
    reading.current = (reading.current || Promise.resolve()).then(read);
    return reading.current;
  };
  useEffect(() => {
    const end = follow(user, look, setConnected);
    const timer = setInterval(look, LOOK);
    document.addEventListener("visibilitychange", look);
    return () => {
      end();
      clearInterval(timer);
      document.removeEventListener("visibilitychange", look);
    };
  }, [user, thread]);
  return [found || { turns: [], fresh: [], waiting: 0 }, error, connected, look];
}

export function Live() {
  const { user, id } = usePage();
  useEffect(() => {
    if (!id && !snapshot) replaceRoute(routeTo(user, "live", `live-${new Date().toISOString().slice(0, 16).replace(/\D/g, "")}`));
  }, [user, id]);
  if (snapshot) return html`<div class="view"><h1>Live</h1><${Empty} title="Not in an exported page">Open the explorer on a store to write turns.<//></div>`;
  return id ? html`<${Conversation} thread=${id} />` : html`<${Loading} />`;
}

function Conversation({ thread }) {
  const { memory, user } = usePage();
  const [{ turns, fresh, waiting }, error, connected, look] = useLive(memory, user, thread);
  const [text, setText] = useState("");
  const [role, setRole] = useState("user");
  const [note, setNote] = useState("");
  const [extracted, setExtracted] = useState(0);
  const say = async () => {
    await memory.add(thread, [{ role, content: text.trim() }]);
    setText("");
    await look();
  };
  const process = async () => {
    const run = await memory.process("extract", thread);
    const { rejected = [], skipped_reason: skipped } = run.result || {};
    setNote(run.error || skipped || rejected.join("; ") || "");
    setExtracted(turns.length);
    await memory.process("reconcile");
    await look();
  };
  const waits = extracted === turns.length ? "All turns were searched for facts. The summary follows after ten turns or a pause." : `${counted(waiting, "turn is", "turns are")} unprocessed. Processing starts after ten turns or a pause, or with “Process now”.`;
  return html`<div class="view live"><div class="head"><h1>Live</h1><span class="quiet">${thread}${connected === null ? "" : connected && !error ? " · connected" : " · checking every few seconds"}</span></div>
    <p class="quiet">Write a conversation, and see what is remembered from it and what it replaces.</p>
    ${error && html`<${Problem} error=${error} />`}
    <div class="pair"><section aria-label="Conversation"><h2>Conversation</h2>
      <div class="talk">${turns.map((turn) => html`<${Turn} key=${turn.id} turn=${turn} />`)}${turns.length === 0 && html`<${Empty} title="No turns yet">Write “My budget for the party is $300.” and process it. Then write “We raised the budget for the party to $400.” and process it, too.<//>`}</div>
      <form class="say" onSubmit=${(event) => event.preventDefault()}>
        <label class="field"><span>Turn</span><textarea rows="2" value=${text} onInput=${(event) => setText(event.target.value)}></textarea></label>
        <div class="actions"><select aria-label="Role" value=${role} onChange=${(event) => setRole(event.target.value)}><option value="user">as the user</option><option value="assistant">as the assistant</option></select>
          <${Change} primary disabled=${!text.trim()} does=${say}>Send<//>
          <${Change} disabled=${waiting === 0} does=${process}>Process now<//></div>
        <p class="quiet" role="status">${waiting > 0 ? waits : "All turns are processed."}${note && ` Not stored: ${note}.`}</p>
      </form></section>
    <section aria-label="Memories" aria-live="polite"><h2>Memories</h2>
      ${fresh.length === 0 && html`<${Empty} title="No new memories">Memories from this conversation appear here.<//>`}
      <ul class="plain facts-live">${fresh.map((one) => html`<li key=${one.id} class=${one.superseded_by ? "struck" : "fresh"}><a href=${routeTo(user, "memory", one.id)}>${lineOf(one)}</a> <${Kind} memory=${one} /> ${one.superseded_by && html`<span class="quiet">${reasonOf(one)}</span>`}</li>`)}</ul>
    </section></div></div>`;
}
