// How memories are laid out in time: pure functions.

import { span } from "./text.js";

const DAY = 86_400_000;
const STEPS = [1, 7, 14, 30.44, 61, 91.3, 182.6, 365.25, 730.5, 1826, 3652.5, 7305, 18262, 36525, 182625, 365250, 730500];

// A month of a year; Date.UTC takes years below 100 for the 1900s.
function monthOf(year, month) {
  return new Date(0).setUTCFullYear(year, month, 1);
}

const [BEGIN, END] = [monthOf(1, 0), monthOf(10_000, 0) - DAY];

// Versions of one thing follow each other in one row.
export function chainsOf(memories) {
  const byId = new Map(memories.map((memory) => [memory.id, memory]));
  const last = (memory) => {
    const seen = new Set();
    let at = memory;
    while (byId.has(at.superseded_by) && !seen.has(at.id)) {
      seen.add(at.id);
      at = byId.get(at.superseded_by);
    }
    return at;
  };
  const chains = new Map();
  for (const memory of memories) {
    const id = last(memory).id;
    if (!chains.has(id)) chains.set(id, []);
    chains.get(id).push(memory);
  }
  for (const chain of chains.values()) chain.sort((a, b) => span(a).from - span(b).from);
  return [...chains.values()];
}

const GROUPS = {
  kind: (memory) => memory.kind || memory.type,
  thread: (memory) => (memory.thread_id.startsWith("__") ? "no conversation" : memory.thread_id),
  agent: (memory) => memory.agent_id || "no agent",
  project: (memory) => memory.project_id || "no project",
};

// Lanes of chains by subject: the tag that most memories share, or what `by` names. The largest lane comes first.
export function lanesOf(memories, by) {
  const chains = chainsOf(memories);
  const counts = new Map();
  for (const chain of chains) for (const tag of new Set(chain.flatMap((one) => one.tags))) counts.set(tag, (counts.get(tag) || 0) + 1);
  const subject = (chain) => {
    const tags = [...new Set(chain.flatMap((one) => one.tags))].filter((tag) => counts.get(tag) > 1 && /^[\p{L}\p{N}][\p{L}\p{N} _-]+$/u.test(tag));
    return tags.sort((a, b) => counts.get(b) - counts.get(a) || (a < b ? -1 : 1))[0] || "other";
  };
  const lanes = new Map();
  for (const chain of chains) {
    const name = GROUPS[by] ? GROUPS[by](chain[chain.length - 1]) : subject(chain);
    if (!lanes.has(name)) lanes.set(name, []);
    lanes.get(name).push(chain);
  }
  // One row with one memory is no subject.
  if (!GROUPS[by])
    for (const [name, rows] of [...lanes]) {
      if (name === "other" || rows.length > 1 || rows[0].length > 1) continue;
      lanes.delete(name);
      lanes.set("other", [...(lanes.get("other") || []), ...rows]);
    }
  if (lanes.size === 1 && lanes.has("other")) return [{ name: "all", rows: lanes.get("other") }];
  const newest = (chain) => span(chain[chain.length - 1]).from;
  for (const rows of lanes.values()) rows.sort((a, b) => newest(b) - newest(a));
  return [...lanes].map(([name, rows]) => ({ name, rows })).sort((a, b) => (a.name === "other") - (b.name === "other") || b.rows.length - a.rows.length);
}

// Where the memories of an import begin: most hold from long before they were written down. The first tenth are outliers.
function beginning(memories, spoken) {
  const from = memories.map((memory) => span(memory).from).sort((a, b) => a - b);
  return from[Math.floor(from.length / 2)] < spoken ? from[Math.floor(from.length / 10)] : Infinity;
}

// The time that is shown: from the first to the last statement, with some air; all that ever held with `all`.
export function rangeOf(memories, all) {
  const said = memories.flatMap((memory) => [Date.parse(memory.created_at), ...(all ? [span(memory).from] : []), ...(memory.superseded_at ? [Date.parse(memory.superseded_at)].filter((at) => all || at < Date.parse(memory.created_at) + 3650 * DAY) : [])]);
  const spoken = memories.map((memory) => Date.parse(memory.created_at));
  let first = said.reduce((a, b) => Math.min(a, b), Infinity);
  first = Math.min(first, beginning(memories, first));
  let last = spoken.reduce((a, b) => Math.max(a, b), -Infinity);
  if (!Number.isFinite(first)) [first, last] = [Date.now() - 30 * DAY, Date.now()];
  const air = Math.max(DAY, (last - first) * 0.06);
  return { first: Math.max(BEGIN, first - air), last: Math.min(END, last + 2.5 * air) };
}

// The marks of the axis: at most eight, at days, months or years.
export function ticksOf({ first, last }) {
  const days = (last - first) / DAY;
  const step = STEPS.find((one) => days / one <= 8) || STEPS[STEPS.length - 1];
  const ticks = [];
  const start = new Date(first);
  if (step < 28) {
    let at = Math.ceil(first / DAY) * DAY;
    for (; at < last; at += step * DAY) ticks.push(at);
    return { ticks, unit: "day" };
  }
  const months = Math.max(1, Math.round(step / 30.44));
  const from = months >= 12 ? monthOf(start.getUTCFullYear() + 1, 0) : monthOf(start.getUTCFullYear(), start.getUTCMonth() + 1);
  for (let n = 0, at = from; at < last && n < 100; n++) {
    ticks.push(at);
    const date = new Date(at);
    at = monthOf(date.getUTCFullYear(), date.getUTCMonth() + months);
  }
  return { ticks, unit: months >= 12 ? "year" : "month" };
}

// Left edge and width of a bar in percent; `clipped` says that it began earlier than the range.
export function placeOf(memory, { first, last }) {
  const { from, to } = span(memory);
  const share = (at) => Math.min(100, Math.max(0, (100 * (at - first)) / (last - first)));
  const left = Math.min(99, share(from));
  const right = to === null ? 100 : share(to);
  return { left, width: Math.max(1, right - left), open: to === null || to > last, clipped: from < first };
}
