// Forget: what would go and why, a confirmation that is typed, and the receipt.

import { html, useEffect, useState } from "./vendor/preact-htm.js";
import { snapshot } from "./api.js";
import { routeTo } from "./route.js";
import { counted, download, endOfDay, lineOf } from "./text.js";
import { Answered, Change, Empty, Field, Part, Time, useAnswer, usePage } from "./ui.js";

const WAYS = { query: "Topic", id: "Id", thread: "Conversation", project: "Project", time: "Time" };
const NAMES = { turn: "Turns", fact: "Facts", episodic: "Episodes and talk", procedural: "Procedures", reflection: "Reflections", summary: "Summaries", user_summary: "Profile", state: "States", document: "Documents" };

function request(params) {
  const by = params.by || "query";
  if (by === "query" && params.query) return { query: params.query };
  if (by === "id" && params.id) return { id: params.id, ...(params.keep ? { include_sources: false } : {}) };
  if (by === "thread" && params.thread) return { thread_id: params.thread };
  if (by === "project" && params.project) return { project_id: params.project };
  if (by === "time" && (params.since || params.until))
    return { ...(params.since ? { since: `${params.since}T00:00:00Z` } : {}), ...(params.until ? { until: endOfDay(params.until) } : {}) };
  return null;
}

function grouped(items) {
  const groups = new Map();
  for (const item of items) groups.set(item.type, [...(groups.get(item.type) || []), item]);
  return [...groups];
}

// A tree: by type, then by reason, then the documents.
export function Tree({ items, open }) {
  return html`<ul class="tree">${grouped(items).map(([type, found]) => {
    const reasons = new Map();
    for (const item of found) reasons.set(item.why, [...(reasons.get(item.why) || []), item]);
    return html`<li key=${type}><details open=${open}><summary>${NAMES[type] || type} <span class="quiet">${found.length}</span></summary>
      <ul>${[...reasons].map(([why, of]) => html`<li key=${why}><details open=${open && of.length <= 20}><summary>${why} <span class="quiet">${of.length}</span></summary>
        <ul><${Part} items=${of} size=${200}>${(item) => html`<li key=${item.id}>${item.content ? lineOf(item, 600) : html`<span class="code">${item.id}</span>`} ${item.thread_id && !item.thread_id.startsWith("__") && html`<span class="quiet">in <bdi>${item.thread_id}</bdi></span>`}</li>`}<//></ul></details></li>`)}</ul></details></li>`;
  })}</ul>`;
}

function idsOf(plan) {
  return JSON.stringify(plan.items.map((item) => `${item.type} ${item.thread_id} ${item.id}`).sort());
}

function Receipt({ receipt }) {
  const number = Object.values(receipt.deleted).reduce((sum, ids) => sum + ids.length, 0);
  return html`<section class="notice done" role="status"><h2>Forgotten</h2>
    <p>${counted(number, "item")} deleted on <${Time} at=${receipt.at} />: ${Object.entries(receipt.deleted).filter(([, ids]) => ids.length).map(([type, ids]) => `${ids.length} ${type}`).join(", ") || "nothing"}.</p>
    ${receipt.rebuilt.length > 0 && html`<p>Rebuilt: ${receipt.rebuilt.join(", ")}.</p>`}
    ${receipt.pending.length > 0 && html`<p>Still pending in the background: ${receipt.pending.join(", ")}.</p>`}
    <button onClick=${() => download("receipt.json", "application/json", JSON.stringify(receipt, null, 2))}>Save the receipt</button></section>`;
}

function Plan({ asked }) {
  const { memory, user } = usePage();
  const [typed, setTyped] = useState("");
  const [receipt, setReceipt] = useState(null);
  const [changed, setChanged] = useState(false);
  const answer = useAnswer(() => memory.forget({ ...asked, dry_run: true }), [user, asked]);
  // Only what was shown is deleted.
  const forget = async (shown) => {
    const planned = await memory.forget({ ...asked, dry_run: true });
    if (idsOf(planned) === idsOf(shown)) return memory.forget(asked);
    setChanged(true);
    setTyped("");
    return null;
  };
  if (receipt) return html`<${Receipt} receipt=${receipt} />`;
  return html`<${Answered} of=${answer} what="Making the plan" why="Each match is compared with all memories. Thousands of them take a while.">${(plan) => {
    if (plan.items.length === 0) return html`<${Empty} title="Nothing to delete">No turn and no memory matches.<//>`;
    const words = `forget ${plan.items.length}`;
    return html`<section><h2>${counted(plan.items.length, "item")} would be deleted</h2><${Tree} items=${plan.items} open=${true} /></section>
      ${plan.kept.length > 0 && html`<section><h2>Kept, although it comes from the same turns</h2><${Tree} items=${plan.kept} open=${false} /></section>`}
      ${changed && html`<p class="notice waits" role="alert">The memory has changed since the plan was shown, so nothing was deleted. This is the plan of now.</p>`}
      ${!snapshot && html`<form class="confirm" onSubmit=${(event) => event.preventDefault()}>
        <p>This cannot be undone. It is remembered again only if somebody says it again.</p>
        <${Field} label=${`To confirm, type: ${words}`}><input value=${typed} autocomplete="off" onInput=${(event) => setTyped(event.target.value)} /><//>
        <${Change} danger disabled=${typed.trim() !== words} does=${() => forget(plan)} done=${(made) => (made ? setReceipt(made) : answer[2]())}>Forget it<//>
      </form>`}`;
  }}<//>`;
}

export function Forget() {
  const { params, user, go } = usePage();
  const [form, setForm] = useState({ by: "query", ...params });
  useEffect(() => setForm({ by: "query", ...params }), [JSON.stringify(params)]);
  const key = (name) => ({ value: form[name] || "", onInput: (event) => setForm({ ...form, [name]: event.target.value }) });
  const asked = request(params);
  return html`<div class="view forget"><h1>Forget</h1>
    <p class="quiet">You first see what would be deleted, and why. Nothing is deleted until you confirm it.</p>
    ${!snapshot && html`<form class="ask" onSubmit=${(event) => { event.preventDefault(); go(routeTo(user, "forget", "", form)); }}>
      <${Field} label="By"><select value=${form.by} onChange=${(event) => setForm({ ...form, by: event.target.value })}>${Object.entries(WAYS).map(([value, name]) => html`<option value=${value} selected=${form.by === value}>${name}</option>`)}</select><//>
      ${form.by === "query" && html`<${Field} label="Topic" wide><input ...${key("query")} placeholder="my budget for the trip" /><//>`}
      ${form.by === "id" && html`<${Field} label="Id of a memory or turn" wide><input ...${key("id")} /><//><label class="check"><input type="checkbox" checked=${!!form.keep} onChange=${(event) => setForm({ ...form, keep: event.target.checked ? "1" : "" })} /> keep the turns</label>`}
      ${form.by === "thread" && html`<${Field} label="Conversation" wide><input ...${key("thread")} /><//>`}
      ${form.by === "project" && html`<${Field} label="Project" wide><input ...${key("project")} /><//>`}
      ${form.by === "time" && html`<${Field} label="From"><input type="date" ...${key("since")} /><//><${Field} label="To"><input type="date" ...${key("until")} /><//>`}
      <button class="primary" type="submit" disabled=${!request(form)}>Show the plan</button>
    </form>`}
    ${asked && html`<${Plan} key=${JSON.stringify(asked)} asked=${asked} />`}
  </div>`;
}
