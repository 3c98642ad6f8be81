// Profile: what is known across conversations, each line with the memories that it rests on.

import { html, useState } from "./vendor/preact-htm.js";
import { routeTo } from "./route.js";
import { counted } from "./text.js";
import { Answered, Change, Empty, Loading, MemoryLine, Problem, Time, useAnswer, usePage } from "./ui.js";

const SECTIONS = { constraints: "Constraints", preferences: "Preferences", personal: "Personal", current_work: "Current work", environment: "Environment" };

function Evidence({ ids }) {
  const { memory, user } = usePage();
  const [found, error] = useAnswer(
    () => Promise.all(ids.map((id) => memory.memory(id).catch((problem) => (problem.status === 404 ? null : Promise.reject(problem))))),
    [user, ids],
  );
  if (error) return html`<${Problem} error=${error} />`;
  if (!found) return html`<${Loading} />`;
  return found.map((one, at) => (one ? html`<${MemoryLine} key=${one.id} memory=${one} />` : html`<p class="quiet" key=${ids[at]}>This memory was deleted.</p>`));
}

function Line({ text, ids }) {
  const [open, setOpen] = useState(false);
  return html`<li class="profile-line"><span>${text}</span>
    ${ids.length > 0 && html`<button class="link" aria-expanded=${open} onClick=${() => setOpen(!open)}>${open ? "Hide" : counted(ids.length, "memory", "memories")}</button>`}
    ${open && html`<div class="evidence"><${Evidence} ids=${ids} /></div>`}</li>`;
}

export function Profile() {
  const { memory, user } = usePage();
  const answer = useAnswer(() => memory.profile().catch((error) => (error.status === 404 && error.code === "not_found" ? null : Promise.reject(error))), [user]);
  return html`<div class="view"><h1>Profile</h1>
    <p class="quiet">What is known about this person across all conversations. An agent is told it at the start of each one.</p><${Answered} of=${answer} what="Loading the profile">${(profile) => {
    const make = html`<${Change} does=${() => memory.process("profile")} done=${answer[2]}>Update now<//>`;
    if (!profile) return html`<${Empty} title="No profile yet">It is written from the memories of all conversations, after some turns.<//><p>${make}</p>`;
    return html`${Object.entries(SECTIONS).filter(([name]) => profile[name].length > 0).map(([name, title]) => html`<section key=${name}><h2>${title}</h2><ul class="plain">
        ${profile[name].map((text, at) => html`<${Line} key=${`${name}${at}`} text=${text} ids=${(profile.memory_ids[name] || [])[at] || []} />`)}</ul></section>`)}
      ${Object.keys(SECTIONS).every((name) => profile[name].length === 0) && html`<p class="said">${profile.content}</p>`}
      <p class="quiet">Updated <${Time} at=${profile.updated_at} />${profile.model ? ` by ${profile.model}, prompt ${profile.prompt_version}` : ""}, from <a href=${routeTo(user, "timeline")}>${counted(profile.source_ids.length, "memory", "memories")}</a>. ${make}</p>`;
  }}<//></div>`;
}
