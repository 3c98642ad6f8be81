// Playground: what a question finds and why, and the context as an agent gets it; two settings side by side.

import { html, useEffect, useState } from "./vendor/preact-htm.js";
import { recorded, snapshot } from "./api.js";
import { evaluationCase } from "./cases.js";
import { routeTo } from "./route.js";
import { counted, day, download, endOfDay, lineOf, percent, short } from "./text.js";
import { Answered, Copy, Empty, Field, Kind, useAnswer, usePage } from "./ui.js";

const PARTS = {
  text: "words in common", vector: "nearness in meaning", neighbours: "the talk around it", thread: "its conversation", signs: "signs that it answers", speaker: "its speaker",
  date: "the time that is asked about", unplaced: "its conversation is unknown", agent: "said by an agent", asked: "a question itself",
};

// The ways on which a memory was found.
const FOUND = { vector: "meaning", words: "words", neighbour: "the talk around another hit", source: "what was derived from it", link: "a link", fresh: "being new" };

const HUES = 6;

// One hue for each part, in the bars and in the legend; what is rare shares the last one.
function hue(name) {
  const at = Object.keys(PARTS).indexOf(name);
  return at >= 0 && at < HUES ? at : HUES;
}

const DECIDED = {
  gate: ["needs the memory", "Whether the question needs the memory at all."],
  query: ["wording", "Whether the question was completed from the conversation before it was searched for."],
  archive: ["archived talk", "Whether older, archived talk was searched, too."],
  searched: ["searched for", "The question as it was searched for."],
};

const BUDGET = 650;
const LIMIT = 10;

function settings(params, side) {
  const of = (name, other) => params[`${name}${side}`] ?? other;
  return { thread: of("thread", ""), budget: Number(of("budget", BUDGET)) || BUDGET, limit: Number(of("limit", LIMIT)) || LIMIT, asof: of("asof", ""), format: of("format", "sections") };
}

function bodies(query, { thread, budget, limit, asof, format }) {
  const common = { query, ...(thread ? { thread_id: thread } : {}), ...(asof ? { as_of: endOfDay(asof) } : {}) };
  return { search: { query, limit: Math.min(100, limit), ...(asof ? { as_of: endOfDay(asof) } : {}) }, context: { ...common, budget, limit: Math.min(100, limit), ...(format === "sections" ? {} : { format }) } };
}

function Score({ hit, most }) {
  const parts = Object.entries(hit.why).filter(([, value]) => value > 0);
  return html`<div class="score" role="img" aria-label=${`Score ${hit.score.toFixed(2)}: ${parts.map(([name, value]) => `${PARTS[name] || name} ${value.toFixed(2)}`).join(", ")}`}>
    ${parts.map(([name, value]) => html`<i key=${name} class=${`part part-${hue(name)}`} style=${{ width: `${(100 * value) / most}%` }} title=${`${PARTS[name] || name}: ${value.toFixed(3)}`}></i>`)}
  </div>`;
}

function Hits({ hits }) {
  const { user } = usePage();
  if (hits.length === 0) return html`<${Empty} title="Nothing found">No memory has these words or a similar meaning.<//>`;
  const most = Math.max(...hits.map((hit) => hit.score), 0.001);
  const names = [...new Set(hits.flatMap((hit) => Object.keys(hit.why).filter((name) => hit.why[name] > 0)))];
  const less = (hit) => Object.entries(hit.why).filter(([, value]) => value <= -0.005).map(([name, value]) => ` · ${value.toFixed(2).replace("-", "−")} for ${PARTS[name] || name}`).join("");
  return html`<p class="legend">Parts of the score: ${names.map((name) => html`<span key=${name}><i class=${`part part-${hue(name)}`}></i> ${PARTS[name] || name}</span>`)}</p>
    <ol class="hits">${hits.map((hit) => html`<li key=${hit.memory.id}>
      <a href=${routeTo(user, "memory", hit.memory.id)}>${lineOf(hit.memory, 200)}</a>
      <${Score} hit=${hit} most=${most} />
      <div class="meta"><${Kind} memory=${hit.memory} /> ${day(hit.memory.created_at)} · score ${hit.score.toFixed(2)}${less(hit)}${hit.relevance !== null && hit.relevance !== undefined ? ` · relevance ${percent(hit.relevance)}` : ""}${hit.found_by.length ? ` · found by ${hit.found_by.map((way) => FOUND[way] || way).join(", ")}` : ""}</div>
      ${hit.explanation && html`<details><summary>Why</summary><p>${hit.explanation}</p></details>`}
    </li>`)}</ol>`;
}

// The lines of a context, each with the number of its section.
function sectionsOf(text) {
  const sections = [];
  for (const line of text.split("\n")) {
    if (!line.startsWith("- ") && /:$|^#|^<\w/.test(line.trim())) sections.push({ title: line.trim().replace(/[:#<>]/g, "").trim(), lines: [line] });
    else if (sections.length === 0) sections.push({ title: "text", lines: [line] });
    else sections[sections.length - 1].lines.push(line);
  }
  return sections.filter((one) => one.lines.join("").trim());
}

// What the budget had no room for, in words.
function LeftOut({ items }) {
  const { memory, user } = usePage();
  const ids = items.map((one) => one.id).filter(Boolean).slice(0, 30);
  const [found] = useAnswer(() => Promise.all(ids.map((id) => memory.memory(id).catch(() => null))), [user, ids]);
  const words = new Map((found || []).filter(Boolean).map((one) => [one.id, lineOf(one, 160)]));
  return html`<h3>Left out: no room in the budget</h3><ul class="left-out">${items.map((one) => html`<li key=${one.id}>
    ${words.has(one.id) ? html`<a href=${routeTo(user, "memory", one.id)}>${words.get(one.id)}</a>` : short(String(one.content || one.id || one.type), 120)}${" "}
    <span class="quiet">${one.type}${one.score ? ` · score ${one.score.toFixed(2)}` : ""}</span></li>`)}</ul>`;
}

function Context({ context, budget }) {
  const { user } = usePage();
  const sections = sectionsOf(context.text);
  const letters = sections.map((one) => one.lines.join("\n").length);
  const all = letters.reduce((sum, one) => sum + one, 0) || 1;
  const share = (at) => (100 * letters[at] * context.tokens) / (all * Math.max(budget, context.tokens));
  return html`<div class="context">
    <p class="meta">${context.tokens} of ${budget} tokens · ${Math.round(context.milliseconds)} ms${context.relevance !== null && context.relevance !== undefined ? ` · relevance ${percent(context.relevance)}` : ""}</p>
    <div class="budget" role="img" aria-label=${`${context.tokens} of ${budget} tokens are used`}>${sections.map((one, at) => html`<i class=${`section section-${at % 6}`} style=${{ width: `${share(at)}%` }} title=${one.title}></i>`)}</div>
    ${context.skipped_reason && html`<p class="notice waits">No context: ${context.skipped_reason}.</p>`}
    ${context.degraded.map((one) => html`<p class="notice waits">${one}</p>`)}
    <dl class="decisions">${Object.entries({ ...context.decisions, ...(context.query ? { searched: context.query } : {}) }).map(([name, value]) => html`<div key=${name} title=${DECIDED[name]?.[1]}><dt>${DECIDED[name]?.[0] || name}</dt><dd>${name === "gate" ? value.replace(/^search$/, "yes").replace(/^skip: /, "no: ") : value}</dd></div>`)}</dl>
    ${context.text ? html`<div class="told" tabindex="0" role="region" aria-label="The context as the agent gets it">${sections.map((one, at) => html`<div class=${`section section-${at % 6}`}>${one.lines.join("\n")}</div>`)}</div>` : html`<${Empty} title="The context is empty">No memory is relevant to this question.<//>`}
    ${context.left_out.length > 0 && html`<${LeftOut} items=${context.left_out} />`}
    ${context.used.some((one) => one.earlier) && html`<p class="quiet">${counted(context.used.filter((one) => one.earlier).length, "line is", "lines are")} marked: a newer memory exists.</p>`}
  </div>`;
}

function python(user, query, { thread, budget, limit, asof, format }) {
  const quote = (text) => JSON.stringify(text);
  const scope = thread ? `memory.user(${quote(user)}).thread(${quote(thread)})` : `memory.user(${quote(user)})`;
  const more = [`budget=${budget}`, `limit=${limit}`, ...(asof ? [`as_of=datetime.fromisoformat(${quote(endOfDay(asof))})`] : []), ...(format === "sections" ? [] : [`format=${quote(format)}`])];
  return `${asof ? "from datetime import datetime\n\n" : ""}from agent_memory import Memory\n\nwith Memory.local("memory.db") as memory:\n    context = ${scope}.context(${quote(query)}, ${more.join(", ")})\n    print(context.text)\n`;
}

function Result({ query, side, chosen }) {
  const { memory, user } = usePage();
  const body = bodies(query, chosen);
  const answer = useAnswer(async () => {
    const [found, context] = await Promise.all([memory.search(body.search), memory.context(body.context)]);
    return { hits: found.hits, context };
  }, [user, query, chosen]);
  const [saved, setSaved] = useState(null);
  const save = async (hits) => {
    try {
      const made = await evaluationCase(memory, query, hits);
      download("evaluation-case.json", "application/json", made);
      setSaved("Saved. Check its evidence, then run: agent-memory eval evaluation-case.json");
    } catch (error) {
      setSaved(error.message);
    }
  };
  return html`<section class="result" aria-label=${side ? "Second settings" : "Result"}>
    <${Answered} of=${answer} what="Searching">${({ hits, context }) => html`
      <h2>Context</h2><${Context} context=${context} budget=${chosen.budget} />
      <h2>Hits</h2><${Hits} hits=${hits} />
      <div class="actions"><${Copy} text=${python(user, query, chosen)}>Copy as Python<//>
        ${!snapshot && html`<button onClick=${() => save(hits)}>Save as evaluation case</button>`}</div>
      ${saved && html`<p role="status" class="quiet">${saved}</p>`}`}<//>
  </section>`;
}

function Settings({ params, side, change }) {
  const chosen = settings(params, side);
  const field = (name, value) => (event) => change({ [`${name}${side}`]: event.target.value || value });
  return html`<fieldset class="settings"><legend>${side ? "Second settings" : "Settings"}</legend>
    <${Field} label="Conversation"><input value=${chosen.thread} placeholder="a new one" list="conversations" onChange=${field("thread", "")} /><//>
    <${Field} label="Budget (tokens)"><input type="number" min="0" max="100000" value=${chosen.budget} onChange=${field("budget", "")} /><//>
    <${Field} label="Maximum hits"><input type="number" min="1" max="100" value=${chosen.limit} onChange=${field("limit", "")} /><//>
    <${Field} label="As of"><input type="date" value=${chosen.asof} onChange=${field("asof", "")} /><//>
    <${Field} label="Format"><select value=${chosen.format} onChange=${field("format", "")}>${["sections", "bullets", "xml"].map((one) => html`<option value=${one} selected=${chosen.format === one}>${one}</option>`)}</select><//>
  </fieldset>`;
}

// The questions that an exported file holds the answers of.
function known(user) {
  const start = `${user} POST /v1/context `;
  const asked = Object.keys(snapshot.answers).filter((key) => key.startsWith(start)).map((key) => JSON.stringify(JSON.parse(key.slice(start.length)).slice(0, 2)));
  return [...new Set(asked)].map((one) => JSON.parse(one));
}

export function Playground() {
  const { memory, params, user, go } = usePage();
  const [query, setQuery] = useState(params.q || "");
  const change = (changes) => go(routeTo(user, "playground", "", { ...params, q: query || params.q, ...changes }));
  useEffect(() => setQuery(params.q || ""), [params.q]);
  const two = params.two === "1";
  const [talks] = useAnswer(() => (snapshot ? Promise.resolve({ threads: [] }) : memory.threads({ limit: 100 })), [user]);
  return html`<div class="view playground"><h1>Playground</h1>
    <p class="quiet">Ask as an agent would. The context is the text that the agent gets; the hits are what was found for it, each with the parts of its score. Relevance is the chance that a memory helps with the answer.</p>
    ${snapshot
      ? html`<div class="actions">${known(user).map(([text, asof]) => html`<a class="button" href=${routeTo(user, "playground", "", { q: text, asof })}>${text}${asof ? ` (as of ${day(asof)})` : ""}</a>`)}${known(user).length === 0 && html`<p class="quiet">No questions were asked for this file.</p>`}</div>`
      : html`<form class="ask" onSubmit=${(event) => { event.preventDefault(); recorded.clear(); change({ q: query }); }}>
        <${Field} label="Question"><input class="question" value=${query} placeholder="What should I know before I answer?" onInput=${(event) => setQuery(event.target.value)} /><//>
        <button class="primary" type="submit" disabled=${!query.trim()}>Ask</button>
        <button type="button" aria-pressed=${two} onClick=${() => change({ two: two ? "" : "1" })}>Compare two settings</button>
      </form>
      <datalist id="conversations">${((talks && talks.threads) || []).map((one) => html`<option value=${one.thread_id}></option>`)}</datalist>
      <div class=${two ? "pair" : ""}><${Settings} params=${params} side="" change=${change} />${two && html`<${Settings} params=${params} side="2" change=${change} />`}</div>`}
    ${params.q ? html`<div class=${two ? "pair" : "single"}><${Result} query=${params.q} side="" chosen=${settings(params, "")} />${two && html`<${Result} query=${params.q} side="2" chosen=${settings(params, "2")} />`}</div>`
      : !snapshot && html`<${Empty} title="Ask something">You see the hits, the parts of each score, and the context that an agent would get.<//>`}
  </div>`;
}
