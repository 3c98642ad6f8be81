// Review: what waits for a decision, with the suspicious words marked.

import { html, useEffect, useRef } from "./vendor/preact-htm.js";
import { snapshot } from "./api.js";
import { replaceRoute, routeTo } from "./route.js";
import { UNSEEN, day } from "./text.js";
import { Answered, Change, Empty, Kind, Quoted, Turn, useAnswer, usePage } from "./ui.js";

function Evidence({ memory: waiting }) {
  const { memory, user } = usePage();
  const [found] = useAnswer(() => memory.why(waiting.id), [user, waiting.id]);
  const doubtful = found ? found.doubtful : [];
  const inside = (text) => doubtful.find((one) => text.includes(one)) || (UNSEEN.exec(text) || [])[0];
  return html`<p class="said large"><${Quoted} text=${waiting.content} quote=${inside(waiting.content)} name="doubt" /></p>
    ${found && found.turns.slice(0, 3).map((turn) => html`<${Turn} key=${turn.id} turn=${turn} quote=${inside(turn.content)} mark="doubt" />`)}`;
}

export function Review() {
  const { memory, user, params } = usePage();
  const answer = useAnswer(() => memory.review(), [user]);
  const at = Number(params.at) || 0;
  const setAt = (next) => replaceRoute(routeTo(user, "review", "", { at: next || "" }));
  const box = useRef(null);
  const items = answer[0] ? answer[0].memories : [];
  const here = Math.min(at, Math.max(0, items.length - 1));
  useEffect(() => {
    const press = (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName) || document.querySelector("dialog[open]")) return;
      if (event.key === "j") setAt(Math.min(here + 1, items.length - 1));
      else if (event.key === "k") setAt(Math.max(0, here - 1));
      else if (event.key === "a" || event.key === "r") {
        const button = box.current && box.current.querySelector(`[data-current] .${event.key === "a" ? "primary" : "danger"}`);
        if (button) button.click();
      }
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  }, [here, items.length]);
  return html`<div class="view review" ref=${box}><h1>Review</h1>
    <${Answered} of=${answer} what="Loading">${() =>
      items.length === 0
        ? html`<${Empty} title="Nothing to review">Text that looks like an instruction to a model, and instructions from an agent, wait here until you decide. They are not recalled.<//>`
        : html`${!snapshot && html`<p class="quiet">These memories are recalled only if you approve them. Keys: <kbd>j</kbd> next, <kbd>k</kbd> back, <kbd>a</kbd> approve, <kbd>r</kbd> reject.</p>`}
          ${items.map((one, index) => html`<section key=${one.id} class="waiting" data-current=${index === here ? "1" : undefined}>
            <p class="meta"><${Kind} memory=${one} /> ${day(one.created_at)} · said by ${one.source} · <strong>${one.review_reason || "an instruction that no user gave"}</strong></p>
            <${Evidence} memory=${one} />
            <div class="actions"><${Change} primary does=${() => memory.approve(one.id)} done=${answer[2]}>Approve<//><${Change} danger does=${() => memory.reject(one.id)} done=${answer[2]}>Reject<//>
            <a href=${routeTo(user, "memory", one.id)}>Open</a></div></section>`)}`}<//>
  </div>`;
}
