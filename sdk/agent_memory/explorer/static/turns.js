// Turns: the conversations, and what was learned from each turn.

import { html, useState } from "./vendor/preact-htm.js";
import { snapshot } from "./api.js";
import { routeTo } from "./route.js";
import { counted, lineOf, short } from "./text.js";
import { Answered, Empty, More, Part, StateOf, Time, Turn, useAnswer, usePage } from "./ui.js";

function Threads() {
  const { memory, user } = usePage();
  const answer = useAnswer(() => memory.threads({ limit: 200 }), [user]);
  const [rest, setRest] = useState([]);
  const [next, setNext] = useState(undefined);
  return html`<h1>Turns</h1>
    <p class="quiet">A turn is one message. Open a conversation to see its turns, and what is remembered from each.</p><${Answered} of=${answer} what="Loading the conversations">${(found) => {
    const threads = [...found.threads, ...rest];
    const continuation = next === undefined ? found.next : next;
    const more = async () => {
      const page = await memory.threads({ limit: 200, continuation });
      setRest([...rest, ...page.threads]);
      setNext(page.next);
    };
    if (threads.length === 0) return html`<${Empty} title="No conversations">No turns have been written yet.${!snapshot && html` <a href=${routeTo(user, "live")}>Write some in Live</a>.`}<//>`;
    return html`<ul class="cards">${threads.map((one) => html`<li key=${one.thread_id}><a class="card" href=${routeTo(user, "turns", one.thread_id)}>
        <strong>${one.thread_id}</strong><span class="meta">${counted(one.turns, "turn")} · last <${Time} at=${one.last_turn_at} />${one.unprocessed_turns > 0 ? ` · ${one.unprocessed_turns} unprocessed` : ""}</span></a></li>`)}</ul>
      ${continuation && !snapshot && html`<${More} load=${more}>Show more conversations<//>`}`;
  }}<//>`;
}

function Summary({ summary }) {
  if (!summary) return null;
  const list = (title, items) => items && items.length > 0 && html`<div><h3>${title}</h3><ul>${items.map((one) => html`<li>${one}</li>`)}</ul></div>`;
  return html`<details class="summary" open><summary>Summary${summary.topic ? `: ${summary.topic}` : ""}</summary><p class="said">${summary.content}</p>
    ${list("Decisions", summary.decisions)}${list("Open issues", summary.open_issues)}${list("Next steps", summary.next_steps)}</details>`;
}

export function Turns() {
  const { memory, user, id } = usePage();
  const answer = useAnswer(async () => {
    if (!id) return null;
    const [talk, learned, summary] = await Promise.all([
      memory.turns(id, { last: 300 }),
      memory.threadMemories(id, { include_superseded: true, limit: 1000 }),
      memory.summary(id).catch((error) => (error.status === 404 ? null : Promise.reject(error))),
    ]);
    return { talk, learned: learned.memories, summary };
  }, [user, id]);
  const [older, setOlder] = useState({ of: null, turns: [] });
  if (!id) return html`<div class="view"><${Threads} /></div>`;
  return html`<div class="view"><p class="crumb"><a href=${routeTo(user, "turns")}>Turns</a> / ${short(id, 60)}</p>
    <h1>${id}</h1><${Answered} of=${answer} what="Loading the conversation">${({ talk, learned, summary }) => {
      const before = older.of === talk ? older : { turns: [], next: talk.next };
      const turns = [...before.turns, ...talk.turns];
      const byTurn = new Map();
      for (const one of learned) if (one.kind !== "session") for (const turn of one.source_turn_ids) byTurn.set(turn, [...(byTurn.get(turn) || []), one]);
      const more = async () => {
        const page = await memory.turns(id, { last: 300, continuation: before.next });
        setOlder({ of: talk, turns: [...page.turns, ...before.turns], next: page.next });
      };
      if (turns.length === 0) return html`<${Empty} title="No turns">This conversation has none, or they were deleted.<//>`;
      return html`<${Summary} summary=${summary} />
        ${before.next && !snapshot && html`<${More} load=${more}>Show earlier turns<//>`}
        <div class="talk"><${Part} items=${turns} size=${300} noun="turn">${(turn) => {
          const facts = (byTurn.get(turn.id) || []).sort((a, b) => a.created_at < b.created_at ? -1 : 1);
          const quoted = facts.find((one) => one.quote && turn.content.includes(one.quote));
          return html`<${Turn} key=${turn.id} turn=${turn} quote=${quoted && quoted.quote}>
            ${facts.length > 0 && html`<ul class="learned" aria-label="Learned from this turn">${facts.map((one) => html`<li key=${one.id}><a class=${one.superseded_by ? "replaced" : ""} href=${routeTo(user, "memory", one.id)}>${lineOf(one, 160)}</a> <${StateOf} memory=${one} /></li>`)}</ul>`}
          <//>`;
        }}<//></div>`;
    }}<//></div>`;
}
