// Every state of the page is its address: #/u/<user>/<view>/<id>?name=value

export function parseRoute(hash) {
  const [path, ...rest] = hash.replace(/^#/, "").split("?");
  const query = rest.join("?");
  const parts = path.split("/").filter(Boolean).map(decode);
  const params = Object.fromEntries(new URLSearchParams(query));
  if (parts[0] !== "u") return { user: null, view: parts[0] || "timeline", id: "", params };
  return { user: parts[1] || null, view: parts[2] || "timeline", id: parts[3] || "", params };
}

export function routeTo(user, view, id, params) {
  const query = new URLSearchParams(
    Object.entries(params || {}).filter(([, value]) => value !== undefined && value !== null && value !== ""),
  ).toString();
  const parts = [user, view, id].filter((one) => one !== undefined && one !== null && one !== "");
  return `#/u/${parts.map(encodeURIComponent).join("/")}${query ? `?${query}` : ""}`;
}

// Changes the address without a new entry in the history: for sliders and words that are being typed.
export function replaceRoute(hash) {
  history.replaceState(null, "", hash);
  dispatchEvent(new HashChangeEvent("hashchange"));
}

function decode(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
