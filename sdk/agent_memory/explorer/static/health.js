// Health, dead letters and the audit: what an operator looks at.

import { html } from "./vendor/preact-htm.js";
import { counted, minute, nameOf } from "./text.js";
import { Answered, Change, Empty, Field, Time, useAnswer, usePage } from "./ui.js";
import { replaceRoute, routeTo } from "./route.js";

function ago(time) {
  const minutes = Math.max(0, Math.round((Date.now() - Date.parse(time)) / 60_000));
  if (minutes < 1) return "under a minute";
  if (minutes < 120) return counted(minutes, "minute");
  return minutes < 2880 ? counted(Math.round(minutes / 60), "hour") : counted(Math.round(minutes / 1440), "day");
}

function Figure({ name, value, note, bad }) {
  return html`<div class=${`figure${bad ? " bad" : ""}`}><dt>${name}</dt><dd>${value}</dd>${note && html`<dd class="quiet">${note}</dd>`}</div>`;
}

function Meter({ name, spent, most }) {
  if (most === null || most === undefined) return html`<${Figure} name=${name} value=${spent.toLocaleString("en")} note="today, no limit" />`;
  return html`<div class="figure"><dt>${name}</dt><dd>${spent.toLocaleString("en")} of ${most.toLocaleString("en")}</dd><dd><meter min="0" max=${most} value=${spent} aria-label=${name}></meter></dd></div>`;
}

function Service({ health }) {
  return html`<div class=${`notice ${health.ok ? "done" : "problem"}`}><strong>${health.ok ? "Everything responds" : "Something does not respond"}</strong>
      ${health.warnings.map((one) => html`<p>${one}</p>`)}</div>
    <dl class="figures">
      <${Figure} name="Unprocessed turns" value=${health.unprocessed_turns.toLocaleString("en")} note="of all users" />
      <${Figure} name="Lag" value=${health.oldest_unprocessed ? ago(health.oldest_unprocessed) : "none"} note="age of the oldest unprocessed turn" />
      <${Figure} name="Dead letters" value=${health.dead_letters} note="work that failed too often" bad=${health.dead_letters > 0} />
      <${Figure} name="Users over budget" value=${health.paused_users} note="their processing waits" bad=${health.paused_users > 0} />
      <${Figure} name="Model calls" value=${health.usage.model_calls.toLocaleString("en")} note="by background work since the start" />
      <${Figure} name="Tokens" value=${(health.usage.input_tokens + health.usage.output_tokens).toLocaleString("en")} note="by background work since the start" />
      ${health.budget && html`<${Meter} name="Model calls today, all users" spent=${health.budget.model_calls} most=${health.budget.most_model_calls} /><${Meter} name="Tokens today, all users" spent=${health.budget.tokens} most=${health.budget.most_tokens} />`}
    </dl>
    <div class="scroll fits" tabindex="0" role="region" aria-label="Parts"><table><thead><tr><th>Part</th><th>Name</th><th>Status</th></tr></thead><tbody>
      <tr><td>Store</td><td>${health.store}</td><td>${health.store_answers ? "responds" : "does not respond"}</td></tr>
      ${[["chat", "Chat model", health.chat_model], ["embeddings", "Embedding model", health.embedding_model]].map(([role, name, id]) => {
        const state = health.models[role];
        return html`<tr key=${role}><td>${name}</td><td>${id}</td><td>${!state || state.answers === null ? "not used yet" : state.answers ? "responds" : `fails: ${state.fault || "unknown"}${state.failing_since ? ` since ${minute(state.failing_since)}` : ""}`}</td></tr>`;
      })}
    </tbody></table></div>`;
}

function DeadLetters() {
  const { memory } = usePage();
  const answer = useAnswer(() => memory.deadLetters(), []);
  return html`<h2>Dead letters</h2><${Answered} of=${answer}>${({ dead_letters: letters }) =>
    letters.length === 0 ? html`<p class="quiet">None. No step has given up.</p>`
      : letters.map((one) => html`<div class="card" key=${one.id}><strong>${one.step}</strong> of <bdi>${one.user_id}</bdi>${!one.thread_id.startsWith("__") && html`, <bdi>${one.thread_id}</bdi>`}, <${Time} at=${one.created_at} />
        <p class="said">${one.error}</p><p class="meta">${counted(one.turn_ids.length, "turn")} · ${counted(one.usage.model_calls, "model call")} · ${counted(one.usage.input_tokens + one.usage.output_tokens, "token")}</p>
        <${Change} does=${() => memory.replay(one.id)} done=${answer[2]}>Replay<//></div>`)}<//>`;
}

export function Health() {
  const { memory, session, user } = usePage();
  const stats = useAnswer(() => memory.stats(), [user]);
  const health = useAnswer(() => (session.operates ? memory.health() : Promise.resolve(null)), []);
  return html`<div class="view"><h1>Health</h1>
    <p class="quiet">Whether the background work keeps up: each turn is processed once, and memories are made of it.</p>
    ${session.operates ? html`<${Answered} of=${health}>${(found) => html`<${Service} health=${found} />`}<//><${DeadLetters} />` : html`<p class="quiet">Only the operator sees the state of the service.</p>`}
    <h2>Memory of <bdi>${nameOf(user)}</bdi></h2><${Answered} of=${stats}>${(found) => html`<dl class="figures">
      <${Figure} name="Memories" value=${found.memories.toLocaleString("en")} note=${`${found.superseded.toLocaleString("en")} replaced`} />
      <${Figure} name="Turns" value=${found.turns.toLocaleString("en")} note=${`${found.unprocessed_turns} unprocessed`} />
      <${Figure} name="Conversations" value=${found.threads.toLocaleString("en")} />
      ${found.budget ? html`<${Meter} name="Model calls today" spent=${found.budget.model_calls} most=${found.budget.most_model_calls} /><${Meter} name="Tokens today" spent=${found.budget.tokens} most=${found.budget.most_tokens} />` : html`<${Figure} name="Budget" value="none" note="no daily limit is set" />`}
    </dl>${found.paused && html`<p class="notice waits">${found.paused}.</p>`}${!found.memory_enabled && html`<p class="notice waits">Memory is switched off for this user.</p>`}`}<//>
  </div>`;
}

export function Audit() {
  const { memory, user, params } = usePage();
  const limit = Number(params.limit) || 100;
  const only = params.only === "changes";
  const set = (changes) => replaceRoute(routeTo(user, "audit", "", { ...params, ...changes }));
  const answer = useAnswer(() => memory.audit({ limit }), [user, limit]);
  return html`<div class="view"><h1>Audit</h1>
    <p class="quiet">Who read and changed the memory of <bdi>${nameOf(user)}</bdi>, newest first.</p><${Answered} of=${answer}>${(found) => {
    const entries = found.entries.filter((one) => !only || one.changes);
    const choice = html`<div class="filters"><${Field} label="Entries"><select value=${limit} onChange=${(event) => set({ limit: event.target.value })}>${[100, 300, 1000].map((one) => html`<option value=${one} selected=${limit === one}>${one}</option>`)}</select><//>
      <label class="check"><input type="checkbox" checked=${only} onChange=${(event) => set({ only: event.target.checked ? "changes" : "" })} /> changes only</label></div>`;
    return html`${found.entries.length > 0 && choice}${entries.length === 0 ? html`<${Empty} title="No entries">${only ? "No changes among the entries read." : "Reads and changes are recorded only if MEMORY_AUDIT_DAYS is set, for example to 90."}<//>`
      : html`<div class="scroll" tabindex="0" role="region" aria-label="Audit"><table><thead><tr><th>Time</th><th>Action</th><th>Caller</th><th>Conversation</th><th>Items</th></tr></thead><tbody>
        ${entries.map((one, at) => html`<tr key=${at}><td><${Time} at=${one.at} /></td><td>${one.changes ? html`<strong>${one.action}</strong>` : one.action === "forget" ? "forget (only the plan)" : one.action}</td><td>${one.actor} by ${one.via}${one.address ? ` (${one.address})` : ""}</td><td>${one.thread_id || ""}</td><td>${one.count || ""}</td></tr>`)}
      </tbody></table></div>`}`;
  }}<//></div>`;
}
