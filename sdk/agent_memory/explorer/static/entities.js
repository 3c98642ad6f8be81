// Entities: people, places and things.

import { html } from "./vendor/preact-htm.js";
import { Empty } from "./ui.js";

export function Entities() {
  return html`<div class="view"><h1>Entities</h1><${Empty} title="Not yet" /></div>`;
}
