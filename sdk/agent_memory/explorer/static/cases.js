// An evaluation case: the question, and the talk that its best hits rest on, in a form that `agent-memory eval` reads.

const TIME = new Intl.DateTimeFormat("en-GB", { hour: "numeric", minute: "2-digit", hour12: true, timeZone: "UTC" });
const MONTH = new Intl.DateTimeFormat("en-GB", { month: "long", timeZone: "UTC" });

function dated(time) {
  const date = new Date(time);
  const clock = Object.fromEntries(TIME.formatToParts(date).map(({ type, value }) => [type, value]));
  const hour = clock.hour === "0" ? "12" : clock.hour;
  return `${hour}:${clock.minute} ${clock.dayPeriod.toLowerCase().replace(/\W/g, "")} on ${date.getUTCDate()} ${MONTH.format(date)}, ${date.getUTCFullYear()}`;
}

export async function evaluationCase(memory, question, hits) {
  const best = hits.slice(0, 3);
  if (best.length === 0) throw new Error("Nothing was found, so there is no evidence to save.");
  const proofs = await Promise.all(best.map((hit) => memory.why(hit.memory.id)));
  const named = new Set(proofs.flatMap((proof) => proof.turns.map((turn) => turn.id)));
  const threads = [...new Set(proofs.flatMap((proof) => proof.turns.map((turn) => turn.thread_id)))];
  if (threads.length === 0) throw new Error("The hits come from no conversation.");
  const conversation = { speaker_a: "user", speaker_b: "assistant" };
  const evidence = [];
  for (const [at, thread] of threads.entries()) {
    const { turns } = await memory.turns(thread, { last: 1000 });
    conversation[`session_${at + 1}_date_time`] = dated(turns[0].created_at);
    conversation[`session_${at + 1}`] = turns.map((turn, position) => {
      const id = `D${at + 1}:${position + 1}`;
      if (named.has(turn.id)) evidence.push(id);
      return { dia_id: id, speaker: turn.role === "agent" ? "assistant" : turn.name || turn.role, text: turn.content };
    });
  }
  return JSON.stringify([{ sample_id: memory.user, conversation, qa: [{ question, answer: best[0].memory.content, evidence, category: 4 }] }], null, 2);
}
