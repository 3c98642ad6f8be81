// The page: who is signed in, whose memory is shown, and which view.

import { html, render, useCallback, useEffect, useRef, useState } from "./vendor/preact-htm.js";
import { ApiError, listUsers, memoryOf, recorded, session as sessionApi, snapshot } from "./api.js";
import { Entities } from "./entities.js";
import { exportPage } from "./export.js";
import { Forget } from "./forget.js";
import { Audit, Health } from "./health.js";
import { Live } from "./live.js";
import { MemoryView } from "./memory.js";
import { Playground } from "./playground.js";
import { Profile } from "./profile.js";
import { Review } from "./review.js";
import { parseRoute, routeTo } from "./route.js";
import { nameOf } from "./text.js";
import { Timeline } from "./timeline.js";
import { Turns } from "./turns.js";
import { Dialog, Empty, Loading, Page, Problem, Time, usePage } from "./ui.js";

const VIEWS = {
  timeline: ["Timeline", Timeline], turns: ["Turns", Turns], profile: ["Profile", Profile], playground: ["Playground", Playground],
  entities: ["Entities", Entities], live: ["Live", Live], review: ["Review", Review], forget: ["Forget", Forget], health: ["Health", Health], audit: ["Audit", Audit],
};
const HIDDEN = { memory: ["Memory", MemoryView] };
const UNKNOWN = ["Not found", Unknown];
const IN_A_FILE = ["timeline", "turns", "profile", "playground", "entities", "review"];
const MOST_LISTED = 300;

function SignIn({ error, used, done }) {
  const [key, setKey] = useState("");
  const [problem, setProblem] = useState(null);
  const sign = async (event) => {
    event.preventDefault();
    try {
      done(await sessionApi.signIn(key.trim()));
    } catch (failed) {
      setProblem(failed);
    }
  };
  return html`<main class="sign-in"><h1>Agent Memory</h1>
    ${used ? html`<p class="notice waits">This address was used already, or it is too old. Each address works once; the terminal shows the next one.</p>` : error.status !== 401 && html`<${Problem} error=${error} />`}
    <p>Open the address that “agent-memory explore” or “agent-memory serve” printed. It contains a token.</p>
    <form onSubmit=${sign}><label class="field"><span>Or sign in with an API key</span><input type="password" autocomplete="off" value=${key} onInput=${(event) => setKey(event.target.value)} /></label>
      <button class="primary" type="submit">Sign in</button></form>
    ${problem && html`<p class="said-wrong" role="alert">${problem.message}</p>`}</main>`;
}

function Unknown() {
  const { user } = usePage();
  return html`<h1>Not found</h1><${Empty} title="This address leads to no view">Open the <a href=${routeTo(user, "timeline")}>timeline</a> of ${user}.<//>`;
}

function Whose({ user, users, view, go }) {
  const [typed, setTyped] = useState(user);
  useEffect(() => setTyped(user), [user]);
  if (users.length <= 1 && users[0] === user) return html`<p class="whose">Memory of <strong title=${user}>${nameOf(user)}</strong></p>`;
  if (users.length > MOST_LISTED || !users.includes(user))
    return html`<form class="whose" onSubmit=${(event) => { event.preventDefault(); go(routeTo(typed.trim(), view)); }}><label>Memory of <input value=${typed} onInput=${(event) => setTyped(event.target.value)} /></label> ${nameOf(user) !== user && html`<strong>${nameOf(user)}</strong> `}<button type="submit" disabled=${!typed.trim() || typed === user}>Show</button></form>`;
  return html`<label class="whose">Memory of <select value=${user} onChange=${(event) => go(routeTo(event.target.value, view === "memory" ? "timeline" : view))}>${users.map((one) => html`<option value=${one} selected=${one === user}>${nameOf(one)}</option>`)}</select></label>`;
}

function Nav({ user, view, names, signOut }) {
  const list = useRef(null);
  useEffect(() => {
    const here = list.current.querySelector("[aria-current]");
    if (here) list.current.scrollLeft = here.offsetLeft - 24;
  }, [view]);
  return html`<nav aria-label="Views" ref=${list}><ul>${names.map((name) => html`<li key=${name}><a href=${routeTo(user, name)} aria-current=${view === name || (name === "timeline" && view === "memory") ? "page" : undefined}>${VIEWS[name][0]}</a></li>`)}${signOut && html`<li key="out"><button class="link" onClick=${signOut}>Sign out</button></li>`}</ul></nav>`;
}

function useRoute() {
  const [route, setRoute] = useState(() => parseRoute(location.hash || (snapshot ? snapshot.route : "")));
  useEffect(() => {
    const changed = () => setRoute(parseRoute(location.hash));
    addEventListener("hashchange", changed);
    return () => removeEventListener("hashchange", changed);
  }, []);
  return route;
}

const TRIES = 40;

// Back and forward lead to where one was on a page. What was there takes a moment to come; browsers without the
// Navigation API show the top.
function useScroll(place) {
  const left = useRef({ tops: new Map(), back: false });
  useEffect(() => {
    const leave = ({ navigationType }) => {
      if (navigationType !== "replace") left.current.tops.set(location.hash, scrollY);
      left.current.back = navigationType === "traverse";
    };
    if (globalThis.navigation) navigation.addEventListener("navigate", leave);
    return () => globalThis.navigation && navigation.removeEventListener("navigate", leave);
  }, []);
  useEffect(() => {
    const top = (left.current.back && left.current.tops.get(location.hash)) || 0;
    let timer = 0;
    const move = (tries) => {
      scrollTo(0, top);
      if (scrollY < top - 1 && tries > 0) timer = setTimeout(() => move(tries - 1), 50);
    };
    move(TRIES);
    return () => clearTimeout(timer);
  }, [place]);
}

function App() {
  const route = useRoute();
  const [session, setSession] = useState(snapshot ? { caller: "file", user_id: null, operates: Object.keys(snapshot.answers).some((key) => key.includes(" GET /v1/admin/health")), acts_for_users: true, locked: true } : null);
  const [users, setUsers] = useState(snapshot ? snapshot.users : null);
  const [error, setError] = useState(null);
  const [asking, setAsking] = useState(null);
  const [exporting, setExporting] = useState(null);
  const place = useRef("");
  const go = useCallback((hash) => { location.hash = hash; }, []);

  const begin = async (known) => {
    try {
      const found = known || (await sessionApi.read());
      setSession(found);
      setUsers(found.operates ? (await listUsers()).users : found.user_id ? [found.user_id] : []);
      setError(null);
    } catch (problem) {
      if (problem.status === 401 && !known && !begin.tried) {
        begin.tried = true; // signed in by the platform, perhaps
        try {
          return await begin(await sessionApi.signIn());
        } catch {
          // then the page asks
        }
      }
      setError(problem);
    }
    return undefined;
  };
  useEffect(() => { if (!snapshot) begin(); }, []);
  useEffect(() => {
    if (!session || session.locked || snapshot) return undefined;
    const timer = setTimeout(() => setSession({ ...session, locked: true, seconds_unlocked: 0 }), 1000 * session.seconds_unlocked);
    return () => clearTimeout(timer);
  }, [session]);

  const unlock = useCallback(() => new Promise((decide) => {
    if (!session || session.locked) setAsking(() => decide);
    else decide(true);
  }), [session]);

  const user = route.user || (session && session.user_id) || (users && users[0]) || null;
  const view = route.view === "used" ? "timeline" : route.view;
  const at = JSON.stringify([user, view, route.id]);
  if (place.current !== at) {
    place.current = at;
    recorded.clear();
  }
  const [name, View] = [VIEWS, HIDDEN].filter((some) => Object.hasOwn(some, view)).map((some) => some[view])[0] || UNKNOWN;
  useEffect(() => {
    document.title = user ? `${name} · memory of ${nameOf(user)}` : "Agent Memory";
  }, [name, user]);
  useEffect(() => {
    const main = document.getElementById("main");
    if (main && place.moved) main.focus({ preventScroll: true });
    place.moved = true;
  }, [at]);
  useScroll(at);

  if (error) return html`<${SignIn} error=${error} used=${route.view === "used"} done=${begin} />`;
  if (!session || !users) return html`<${Loading} what="Loading" />`;
  const names = snapshot && snapshot.single ? [] : snapshot ? IN_A_FILE.filter((one) => one !== "entities" || Object.keys(snapshot.answers).some((key) => key.includes("/v1/entities"))) : Object.keys(VIEWS);
  const lock = async (locked) => setSession(await sessionApi.lock(locked));
  const recheck = () => sessionApi.read().then(setSession).catch(() => null);
  const signOut = async () => {
    await sessionApi.signOut().catch(() => null);
    setError(new ApiError(401, "unauthenticated", ""));
  };
  const save = async () => {
    setExporting({ at });
    try {
      await exportPage(user, location.hash || routeTo(user, view), `${name} of ${user}`);
      setExporting(null);
    } catch (problem) {
      setExporting({ at, problem });
    }
  };
  const failed = exporting && exporting.at === at && exporting.problem;
  const page = { user, memory: memoryOf(user), session, params: route.params, id: route.id, go, unlock, recheck };
  return html`<${Page.Provider} value=${page}>
    <a class="skip" href="#main" onClick=${(event) => { event.preventDefault(); document.getElementById("main").focus(); }}>Skip to the content</a>
    <header class="top"><a class="brand" href=${snapshot && snapshot.single ? snapshot.route : user ? routeTo(user, "timeline") : "#"}>Agent Memory</a>
      ${user && html`<${Whose} user=${user} users=${users} view=${view} go=${go} />`}
      <span class="space"></span>
      ${snapshot ? html`<span class="quiet">exported <${Time} at=${snapshot.at} /></span>` : html`
        ${failed && html`<span class="said-wrong" role="alert">${failed.message}</span>`}
        ${user && view !== "live" && html`<button onClick=${save}>${exporting && !exporting.problem ? "Exporting…" : "Export page"}</button>`}
        <button class=${session.locked ? "" : "unlocked"} title=${session.locked ? "Nothing can be changed from this page. Choose it to allow changes." : "Choose it to forbid changes again."} aria-pressed=${!session.locked} onClick=${() => (session.locked ? unlock() : lock(true))}>${session.locked ? "Read-only" : "Changes allowed"}</button>`}
    </header>
    <div class="body">${!(snapshot && snapshot.single) && html`<${Nav} user=${user} view=${view} names=${user ? names : []} signOut=${!snapshot && signOut} />`}
      <main id="main" tabindex="-1">${user ? html`<${View} key=${at} />` : html`<h1>Agent Memory</h1><${Empty} title="This store is empty">Nobody has talked yet. Add a conversation with “agent-memory ingest FILE --user ann”, or <a href=${routeTo("me", "live")}>write one here</a>.<//>`}</main></div>
    ${asking && html`<${Dialog} title="Allow changes?" close=${() => { asking(false); setAsking(null); }}>
      <p>The explorer changes nothing until you allow it. You can then change the memory of <strong>${nameOf(user)}</strong> for 15 minutes.</p>
      <div class="actions"><button class="primary" onClick=${async () => { try { await lock(false); asking(true); } catch (problem) { setError(problem); asking(false); } setAsking(null); }}>Allow changes</button>
      <button onClick=${() => { asking(false); setAsking(null); }}>Stay read-only</button></div><//>`}
  <//>`;
}

render(html`<${App} />`, document.getElementById("app"));
