// Entities: the people, places and things that memories name, each with its timeline and its neighbours.

import { html } from "./vendor/preact-htm.js";
import { replaceRoute, routeTo } from "./route.js";
import { counted, day, short } from "./text.js";
import { Lanes } from "./timeline.js";
import { Answered, Empty, Field, Part, useAnswer, usePage } from "./ui.js";

const NEIGHBOURS = 14;

// The entity in the middle, what is named along with it around; a line is as wide as they are often together.
function Neighbourhood({ name, along }) {
  const { user } = usePage();
  const wide = innerWidth > 700;
  const near = Object.entries(along).sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1)).slice(0, wide ? NEIGHBOURS : NEIGHBOURS / 2);
  if (near.length === 0) return html`<p class="quiet">No other name appears with it.</p>`;
  const [width, height] = [wide ? 640 : 360, near.length > 4 ? 340 : 150];
  const most = near[0][1];
  const places = near.map(([other, count], at) => {
    const angle = (2 * Math.PI * at) / near.length + (near.length > 4 ? 0.3 : 0);
    return { other, count, x: width / 2 + (width / 2 - (wide ? 110 : 60)) * Math.cos(angle), y: height / 2 - 6 + (height / 2 - 45) * Math.sin(angle) };
  });
  return html`<svg class="graph" viewBox=${`0 0 ${width} ${height}`} role="group" aria-label=${`What appears together with ${name}`}>
    ${places.map(({ other, count, x, y }) => html`<line key=${`l-${other}`} x1=${width / 2} y1=${height / 2} x2=${x} y2=${y} stroke-width=${1 + (4 * count) / most}></line>`)}
    ${places.map(({ other, count, x, y }) => html`<a key=${other} href=${routeTo(user, "entities", other)} aria-label=${`${other}, together in ${counted(count, "memory", "memories")}`}><circle cx=${x} cy=${y} r=${8 + (8 * count) / most}></circle><text x=${x} y=${y + 32} text-anchor="middle">${short(other, wide ? 22 : 14)}</text></a>`)}
    <circle class="centre" cx=${width / 2} cy=${height / 2} r="18"></circle><text x=${width / 2} y=${height / 2 + 36} text-anchor="middle">${short(name, 26)}</text>
  </svg>`;
}

function One({ name }) {
  const { memory, user } = usePage();
  const answer = useAnswer(() => memory.entity(name), [user, name]);
  return html`<p class="crumb"><a href=${routeTo(user, "entities")}>Entities</a> / ${short(name, 60)}</p><h1>${short(name, 300)}</h1>
    <${Answered} of=${answer} what="Loading its memories">${(found) => html`
      <p class="meta"><span class="kind">${found.kind}</span> in ${counted(found.mentions, "memory", "memories")}, from ${day(found.first_at)} to ${day(found.last_at)}</p>
      <h2>Timeline</h2><${Lanes} items=${found.timeline} by="kind" at=${null} />
      <h2>Appears together with</h2><${Neighbourhood} name=${found.name} along=${found.along_with} />`}<//>`;
}

export function Entities() {
  const { memory, user, id, params } = usePage();
  const answer = useAnswer(() => (id ? Promise.resolve(null) : memory.entities({ kind: params.kind, limit: 300 })), [user, id, params.kind]);
  if (id) return html`<div class="view"><${One} name=${id} /></div>`;
  return html`<div class="view"><h1>Entities</h1>
    <p class="quiet">The people, places and things that memories name.</p>
    <div class="filters"><${Field} label="Kind"><select value=${params.kind || ""} onChange=${(event) => replaceRoute(routeTo(user, "entities", "", { kind: event.target.value }))}>
      ${[["", "All"], ["person", "People"], ["place", "Places"], ["thing", "Things"]].map(([value, name]) => html`<option value=${value} selected=${(params.kind || "") === value}>${name}</option>`)}</select><//></div>
    <${Answered} of=${answer} what="Loading the names">${({ entities }) =>
      entities.length === 0 ? html`<${Empty} title="No names">No memory names ${params.kind ? `a ${params.kind}` : "a person, a place or a thing"}.<//>`
        : html`<ul class="cards"><${Part} items=${entities} size=${120} noun="name">${(one) => html`<li key=${one.name}><a class="card" href=${routeTo(user, "entities", one.name)}><strong>${short(one.name, 120)}</strong><span class="meta"><span class="kind">${one.kind}</span> ${counted(one.mentions, "memory", "memories")} · last ${day(one.last_at)}</span></a></li>`}<//></ul>`}<//>
  </div>`;
}
