// Timeline: a lane for each subject, facts as bars in time, and what held on a day.

import { html, useEffect, useMemo, useState } from "./vendor/preact-htm.js";
import { snapshot } from "./api.js";
import { lanesOf, placeOf, rangeOf, ticksOf } from "./lanes.js";
import { replaceRoute, routeTo } from "./route.js";
import { counted, current, day, endOfDay, held, isoDay, lineOf, reasonOf, short, span } from "./text.js";
import { Answered, Empty, Field, More, Part, StateOf, useAnswer, usePage } from "./ui.js";

const FIRST = 200;
const MORE = 1000;
const MONTH = new Intl.DateTimeFormat("en-GB", { month: "short", year: "numeric", timeZone: "UTC" });

// The filters as the server reads them; what it has not compared is compared here.
function serverFilter(params) {
  const filter = {};
  if (params.kind) filter.or = [{ kind: params.kind }, ...(["fact", "episodic", "procedural", "reflection"].includes(params.kind) ? [{ type: params.kind }] : [])];
  if (params.tag) filter.tags = params.tag;
  if (params.agent) filter.agent_id = params.agent;
  if (params.project) filter.project_id = params.project;
  if (Number(params.sure)) filter.confidence = { gte: Number(params.sure) };
  return Object.keys(filter).length ? JSON.stringify(filter) : undefined;
}

function passes(memory, params) {
  const text = (params.q || "").toLowerCase();
  return (
    (!params.kind || memory.kind === params.kind || memory.type === params.kind) &&
    (!params.tag || memory.tags.includes(params.tag)) &&
    (!params.agent || memory.agent_id === params.agent) &&
    (!params.project || memory.project_id === params.project) &&
    (!Number(params.sure) || memory.confidence >= Number(params.sure)) &&
    (!text || memory.content.toLowerCase().includes(text) || memory.tags.some((tag) => tag.toLowerCase().includes(text)))
  );
}

function useMemories(memory, params) {
  const filters = serverFilter(params);
  const ask = (limit, continuation) => memory.memories({ include_superseded: true, limit, continuation, filters });
  const [answer, error, again] = useAnswer(() => ask(FIRST), [memory.user, filters]);
  const [rest, setRest] = useState({ of: null });
  const older = rest.of === answer ? rest : { items: [], next: answer && answer.next };
  const more = async () => {
    const page = await ask(MORE, older.next);
    setRest({ of: answer, items: [...older.items, ...page.memories], next: page.next });
  };
  return { answer: [answer, error, again], items: answer ? [...answer.memories, ...(older.items || [])] : [], next: older.next, more };
}

function Choice({ label, name, values, set, params, all }) {
  const known = params[name] && !values.includes(params[name]) ? [...values, params[name]] : values;
  if (known.length === 0) return null;
  return html`<${Field} label=${label}><select value=${params[name] || ""} onChange=${(event) => set({ [name]: event.target.value })}>
    <option value="">${all || "All"}</option>${known.map((one) => html`<option value=${one} selected=${params[name] === one}>${one}</option>`)}
  </select><//>`;
}

function Filters({ items, set, params }) {
  const distinct = (of) => [...new Set(items.flatMap(of).filter(Boolean))].sort();
  const [text, setText] = useState(params.q || "");
  useEffect(() => setText(params.q || ""), [params.q]);
  const some = ["q", "kind", "tag", "agent", "project", "sure"].some((name) => params[name]);
  return html`<details class="filters-box" open=${some || innerWidth > 900}><summary>Filters</summary><form class="filters" role="search" aria-label="Filter the timeline" onSubmit=${(event) => event.preventDefault()}>
    <${Field} label="Text"><input type="search" value=${text} placeholder="words" onInput=${(event) => { setText(event.target.value); set({ q: event.target.value }); }} /><//>
    <${Choice} label="Kind" name="kind" values=${distinct((one) => [one.kind || one.type])} set=${set} params=${params} />
    <${Choice} label="Tag" name="tag" values=${distinct((one) => one.tags).slice(0, 300)} set=${set} params=${params} />
    <${Choice} label="Agent" name="agent" values=${distinct((one) => [one.agent_id])} set=${set} params=${params} />
    <${Choice} label="Project" name="project" values=${distinct((one) => [one.project_id])} set=${set} params=${params} />
    <${Choice} label="Minimum confidence" name="sure" values=${["0.5", "0.7", "0.8", "0.9"]} set=${set} params=${params} all="Any" />
    <${Field} label="Group by"><select value=${params.by || ""} onChange=${(event) => set({ by: event.target.value })}>
      ${[["", "subject"], ["kind", "kind"], ["thread", "conversation"], ["agent", "agent"], ["project", "project"]].map(([value, name]) => html`<option value=${value} selected=${(params.by || "") === value}>${name}</option>`)}
    </select><//>
    ${some && html`<button type="button" onClick=${() => set({ q: "", kind: "", tag: "", agent: "", project: "", sure: "" })}>Clear</button>`}
  </form></details>`;
}

function AsOf({ range, at, set, count }) {
  const days = Math.max(1, Math.round((range.last - range.first) / 86_400_000));
  const position = at === null ? days : Math.round((at - range.first) / 86_400_000);
  return html`<div class="asof">
    <label for="asof"><strong>As of</strong> ${at === null ? "now" : day(at)} <span class="quiet">${counted(count, "memory", "memories")} ${at === null ? "valid" : count === 1 ? "was valid" : "were valid"}</span></label>
    <input id="asof" type="range" min="0" max=${days} value=${position} aria-valuetext=${at === null ? "now" : day(at)}
      onInput=${(event) => set(Number(event.target.value) >= days ? "" : isoDay(range.first + Number(event.target.value) * 86_400_000))} />
    <button type="button" disabled=${at === null} onClick=${() => set("")}>Now</button>
  </div>`;
}

function Bar({ memory, range, at, successor, roomy, alone }) {
  const { user } = usePage();
  const place = placeOf(memory, range);
  const { from, to } = span(memory);
  const out = !(at === null ? current(memory) : held(memory, at));
  // The words that are seen, and then the others: who speaks to the page says what is seen.
  const words = `${lineOf(memory)}${memory.superseded_by ? ` ${reasonOf(memory)}${successor ? `: ${lineOf(successor)}` : ""}` : ""}. Valid from ${day(from)}${to === null ? "" : ` to ${day(to)}`}.`;
  const name = `bar${out ? " out" : at !== null ? " held" : ""}${memory.superseded_by ? " replaced" : ""}${place.open ? " open" : ""}${place.clipped ? " clipped" : ""}${memory.status !== "active" ? " waits" : ""}${!roomy ? " narrow" : ""}`;
  const beside = alone && place.left > 62 && place.width < 40;
  return html`<a class=${name} href=${routeTo(user, "memory", memory.id)} aria-label=${words} title=${words} style=${{ left: `${place.left}%`, width: `${place.width}%` }}>
    <span class=${beside ? "beside" : ""} style=${beside ? { maxWidth: `${(100 * place.left) / place.width}%` } : {}}>${memory.superseded_by && out ? html`<span>${lineOf(memory)}</span> <em>${reasonOf(memory)}</em>` : lineOf(memory)}</span>
  </a>`;
}

function Lane({ lane, range, at, ticks }) {
  return html`<section class="lane" aria-label=${`${lane.name}, ${counted(lane.rows.length, "row")}`}>
    <h3 title=${lane.name}>${short(lane.name, 60)} <span class="quiet">${lane.rows.length}</span></h3>
    <div class="track">
      <div class="grid" aria-hidden="true">${ticks.map((tick) => html`<i style=${{ left: `${(100 * (tick - range.first)) / (range.last - range.first)}%` }}></i>`)}
        ${at !== null && html`<b style=${{ left: `${Math.min(100, Math.max(0, (100 * (at - range.first)) / (range.last - range.first)))}%` }}></b>`}</div>
      <${Part} items=${lane.rows} size=${40} noun="row">${(chain) => html`<div class="row" key=${chain[0].id}>
        ${chain.map((memory, index) => html`<${Bar} key=${memory.id} memory=${memory} range=${range} at=${at} successor=${chain.find((one) => one.id === memory.superseded_by)} alone=${chain.length === 1} roomy=${index === chain.length - 1 || placeOf(memory, range).width > 9} />`)}
      </div>`}<//>
    </div>
  </section>`;
}

// Lanes of memories under one axis.
export function Lanes({ items, by, at, all }) {
  const range = rangeOf(items, all);
  const { ticks, unit } = ticksOf(range);
  const lanes = useMemo(() => lanesOf(items, by), [items, by]);
  return html`<div class="lanes">
    <div class="axis" aria-hidden="true">${ticks.map((tick) => html`<span style=${{ left: `${(100 * (tick - range.first)) / (range.last - range.first)}%` }}><i>${unit === "day" ? day(tick) : unit === "month" ? MONTH.format(tick) : new Date(tick).getUTCFullYear()}</i></span>`)}</div>
    <${Part} items=${lanes} size=${30} noun="lane">${(lane) => html`<${Lane} key=${lane.name} lane=${lane} range=${range} at=${at} ticks=${ticks} />`}<//>
  </div>`;
}

function Table({ items, at }) {
  const { user } = usePage();
  const shown = at === null ? items : items.filter((one) => held(one, at));
  return html`<div class="scroll" tabindex="0" role="region" aria-label="Memories as a table"><table><thead><tr><th>Memory</th><th>Kind</th><th>Valid from</th><th>Valid to</th><th>Confidence</th><th>Status</th></tr></thead><tbody>
    <${Part} items=${shown} size=${100} noun="memory" nouns="memories">${(one) => html`<tr key=${one.id}><td><a href=${routeTo(user, "memory", one.id)}>${lineOf(one)}</a></td><td>${one.kind || one.type}</td><td>${day(span(one).from)}</td><td>${span(one).to === null ? "" : day(span(one).to)}</td><td>${Math.round(one.confidence * 100)} %</td><td>${one.superseded_by ? reasonOf(one) : html`<${StateOf} memory=${one} />`}</td></tr>`}<//>
  </tbody></table></div>`;
}

export function Timeline() {
  const { memory, params, user } = usePage();
  const found = useMemories(memory, params);
  const set = (changes) => replaceRoute(routeTo(user, "timeline", "", { ...params, ...changes }));
  const items = useMemo(() => found.items.filter((one) => passes(one, params)), [found.items.length, found.answer[0], JSON.stringify(params)]);
  const at = params.asof && !Number.isNaN(Date.parse(params.asof)) ? Date.parse(endOfDay(params.asof)) : null;
  const range = rangeOf(items, params.range === "all");
  const count = items.filter((one) => one.status === "active" && (at === null ? current(one) : held(one, at))).length;
  const table = params.show === "table";
  return html`<div class="view timeline">
    <div class="head"><h1>Timeline</h1>
      <div class="switch" role="group" aria-label="How it is shown">
        <button aria-pressed=${!table} onClick=${() => set({ show: "" })}>Lanes</button><button aria-pressed=${table} onClick=${() => set({ show: "table" })}>Table</button>
      </div></div>
    <p class="quiet">What is known, and when it was true. Each row is a fact with its earlier versions; click one to see why it is believed. The slider shows what was true on a day.</p>
    <${Answered} of=${found.answer} what="Loading memories">${() => {
      const filtered = ["q", "kind", "tag", "agent", "project", "sure"].some((name) => params[name]);
      if (found.items.length === 0 && !filtered) return html`<${Empty} title="No memories yet">Memories are made from turns in the background. <a href=${routeTo(user, "live")}>Write turns in Live</a>, or ingest a conversation with “agent-memory ingest FILE”.<//>`;
      return html`<${Filters} items=${found.items} set=${set} params=${params} />
        ${items.length === 0 ? html`<${Empty} title="Nothing matches">${found.next ? `Only the newest ${counted(found.items.length, "memory", "memories")} were looked at: load older ones, or ask in the Playground, which searches all.` : "Remove a filter to see more."}<//>` : html`
        <${AsOf} range=${range} at=${at} count=${count} set=${(value) => set({ asof: value })} />
        ${table ? html`<${Table} items=${items} at=${at} />` : html`<${Lanes} items=${items} by=${params.by} at=${at} all=${params.range === "all"} />`}
        <p class="legend"><span class="sample"></span> valid <span class="sample replaced"></span> replaced <span class="sample waits"></span> waits for review
          <button class="link" onClick=${() => set({ range: params.range === "all" ? "" : "all" })}>${params.range === "all" ? "Fit to the conversations" : "Show all time"}</button></p>`}
        ${found.next && !snapshot && html`<p class="more-line">The newest ${counted(found.items.length, "memory", "memories")} are shown. <${More} load=${found.more}>Load older ones<//></p>`}`;
    }}<//>
  </div>`;
}
