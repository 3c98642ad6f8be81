// Memory: what one says, the words that it rests on, its versions, and what can be done with it.

import { html, useState } from "./vendor/preact-htm.js";
import { ApiError, snapshot } from "./api.js";
import { routeTo } from "./route.js";
import { counted, day, difference, lineOf, percent, reasonOf, span } from "./text.js";
import { Answered, Change, Empty, Kind, MemoryLine, StateOf, Tags, Time, Turn, useAnswer, usePage } from "./ui.js";

const AROUND = 2;

function Talk({ memory: shown, turns, missing }) {
  const { memory, user } = usePage();
  const thread = turns.length > 0 ? turns[0].thread_id : "";
  const answer = useAnswer(() => (thread ? memory.turns(thread, { last: 1000 }) : Promise.resolve({ turns: [] })), [user, thread]);
  if (turns.length === 0 && missing.length === 0) return html`<${Empty} title="No conversation">It was added by hand, or derived from other memories.<//>`;
  const all = answer[0] ? answer[0].turns : turns;
  const named = new Set(turns.map((turn) => turn.id));
  const near = new Set();
  all.forEach((turn, at) => named.has(turn.id) && all.slice(Math.max(0, at - AROUND), at + AROUND + 1).forEach((one) => near.add(one.id)));
  const kept = all.some((turn) => named.has(turn.id)) ? all.filter((turn) => near.has(turn.id)) : [];
  const elsewhere = turns.filter((turn) => !kept.some((one) => one.id === turn.id));
  return html`<div class="talk">
    ${[...kept, ...elsewhere].map((turn) => html`<${Turn} key=${turn.id} turn=${turn} current=${named.has(turn.id)} quote=${named.has(turn.id) && shown.quote} />`)}
    ${missing.length > 0 && html`<p class="quiet">${missing.length === 1 ? "One of its turns was" : `${missing.length} of its turns were`} deleted.</p>`}
    ${thread && html`<p><a href=${routeTo(user, "turns", thread)}>The whole conversation</a></p>`}
  </div>`;
}

function Versions({ versions, current }) {
  const { user } = usePage();
  return html`<ol class="versions">${versions.map((version, at) => {
    const before = versions.slice(0, at).filter((one) => one.superseded_by === version.id).pop() || (at > 0 && versions[at - 1].superseded_by ? versions[at - 1] : null);
    return html`<li key=${version.id} aria-current=${version.id === current ? "true" : undefined}>
      <div class="meta">${day(version.created_at)} <${StateOf} memory=${version} /> ${version.superseded_by && html`<span>${reasonOf(version)}</span>`} ${version.metadata && typeof version.metadata.edit_reason === "string" && html`<q>${version.metadata.edit_reason}</q>`}
        ${version.id !== current && html`<a href=${routeTo(user, "memory", version.id)}>Open</a>`}</div>
      <p>${before && before.superseded_by === version.id ? difference(before.content, version.content).map(({ kind, text }) => (kind === "gone" ? html`<del>${text}</del>` : kind === "new" ? html`<ins>${text}</ins>` : text)) : version.content}</p>
    </li>`;
  })}</ol>`;
}

function Facts({ memory }) {
  const { user } = usePage();
  const rows = [
    ["Valid from", day(memory.valid_from || memory.created_at)],
    ["Valid until", memory.valid_to ? day(memory.valid_to) : memory.superseded_by ? day(memory.superseded_at) : span(memory).from > Date.now() ? "not valid yet" : "still valid"],
    ["Stated", html`<${Time} at=${memory.created_at} />`],
    ["Stated again", memory.reaffirmed_at && html`<${Time} at=${memory.reaffirmed_at} />`],
    ["Recorded", memory.recorded_at && html`<${Time} at=${memory.recorded_at} />`],
    ["Confidence", percent(memory.confidence)],
    ["Importance", percent(memory.importance)],
    ["Source", memory.source],
    ["Model", memory.model || "none: added or edited by hand"],
    ["Prompt", memory.prompt_version],
    ["Embedding model", memory.embedding_model],
    ["Agent", memory.agent_id],
    ["Project", memory.project_id],
    ["Time phrase", memory.time_phrase],
    ["Recalled", memory.access_count ? counted(memory.access_count, "time") : null],
  ];
  return html`<dl class="facts">${rows.filter(([, value]) => value).map(([name, value]) => html`<div key=${name}><dt>${name}</dt><dd>${value}</dd></div>`)}
    ${!memory.thread_id.startsWith("__") && html`<div><dt>Conversation</dt><dd><a href=${routeTo(user, "turns", memory.thread_id)}>${memory.thread_id}</a></dd></div>`}
    ${Object.entries(memory.metadata || {}).filter(([name]) => name !== "edit_reason").map(([name, value]) => html`<div key=${`m-${name}`}><dt>${name}</dt><dd>${typeof value === "string" ? value : JSON.stringify(value)}</dd></div>`)}
    <div><dt>Id</dt><dd class="code">${memory.id}</dd></div></dl>`;
}

function Correct({ shown, close }) {
  const { memory, go, user } = usePage();
  const [content, setContent] = useState(shown.content);
  const [reason, setReason] = useState("");
  return html`<form class="correct" onSubmit=${(event) => event.preventDefault()}>
    <label class="field"><span>Corrected text</span><textarea rows="3" value=${content} onInput=${(event) => setContent(event.target.value)}></textarea></label>
    <label class="field"><span>Reason (kept in the history)</span><input value=${reason} onInput=${(event) => setReason(event.target.value)} /></label>
    <div class="actions"><${Change} primary disabled=${!content.trim() || content === shown.content} does=${() => memory.correct(shown.id, content, reason)} done=${(made) => { close(); go(routeTo(user, "memory", made.id)); }}>Save the correction<//>
    <button onClick=${close}>Cancel</button></div>
  </form>`;
}

function Actions({ shown, again }) {
  const { memory, user, go } = usePage();
  const [correcting, setCorrecting] = useState(false);
  if (snapshot) return null;
  if (shown.superseded_by) return html`<p class="quiet">A replaced memory cannot be changed.</p>`;
  const waits = shown.status !== "active";
  return html`<div class="actions">
      ${waits && html`<${Change} primary does=${() => memory.approve(shown.id)} done=${again}>Approve<//>`}
      ${waits && html`<${Change} danger does=${() => memory.reject(shown.id)} done=${() => go(routeTo(user, "review"))}>Reject<//>`}
      <button onClick=${() => setCorrecting(!correcting)} aria-expanded=${correcting}>Correct…</button>
      <${Change} does=${() => memory.pin(shown.id, !shown.pinned)} done=${again}>${shown.pinned ? "Unpin" : "Pin"}<//>
      <a class="button danger" href=${routeTo(user, "forget", "", { by: "id", id: shown.id })}>Forget…</a>
    </div>
    ${correcting && html`<${Correct} shown=${shown} close=${() => setCorrecting(false)} />`}`;
}

function Linked({ title, items, empty }) {
  return (items.length > 0 || empty) && html`<section><h2>${title}</h2>${items.length ? items.map((one) => html`<${MemoryLine} key=${one.id} memory=${one} />`) : html`<p class="quiet">${empty}</p>`}</section>`;
}

export function MemoryView() {
  const { memory, id, user } = usePage();
  const answer = useAnswer(() => memory.why(id).catch((error) => {
    throw error.status === 404 && !snapshot ? new ApiError(404, error.code, `There is no memory with the id “${id}”. It may have been forgotten, or it belongs to another user.`) : error;
  }), [user, id]);
  return html`<div class="view memory">${answer[1] && html`<p class="crumb"><a href=${routeTo(user, "timeline")}>Timeline</a></p><h1>Memory</h1>`}<${Answered} of=${answer} what="Loading the memory">${(found) => {
    const shown = found.memory;
    return html`<p class="crumb"><a href=${routeTo(user, "timeline")}>Timeline</a> / ${lineOf(shown, 40)}</p>
    <div class="columns"><div>
      <header class="statement"><h1>${lineOf(shown, 400)}</h1>
        ${lineOf(shown, 400) !== shown.content && html`<details><summary>The whole text</summary><p class="said">${shown.content}</p></details>`}
        <p class="meta"><${Kind} memory=${shown} /> <${StateOf} memory=${shown} /> <${Tags} tags=${shown.tags} /></p>
        ${shown.review_reason && html`<p class="notice waits">Waiting for review: ${shown.review_reason}.</p>`}
        ${found.replaced_by && html`<p class="notice">It was ${reasonOf(shown)}: <a href=${routeTo(user, "memory", found.replaced_by.id)}>${lineOf(found.replaced_by, 400)}</a></p>`}
      </header>
      <${Actions} shown=${shown} again=${answer[2]} />
      <section><h2>Evidence</h2><${Talk} memory=${shown} turns=${found.turns} missing=${found.missing_turn_ids} /></section>
      ${found.history.length > 1 && html`<section><h2>History</h2><${Versions} versions=${found.history} current=${shown.id} /></section>`}
      <${Linked} title="Derived from" items=${found.sources} />
      <${Linked} title="Derived from it" items=${found.derived || []} empty="Nothing was derived from it." />
      <${Linked} title="Related" items=${found.related} />
    </div><aside aria-label="Details"><${Facts} memory=${shown} /></aside></div>`;
  }}<//></div>`;
}
