import { invalid } from "./errors.js";

const MOST_CHARACTERS = 255;

/** An id that the server takes. What it refuses is refused here, so that no id can mean another path or user. */
export function checkId(value: string, name: string): string {
  if (typeof value !== "string" || value === "" || [...value].length > MOST_CHARACTERS) {
    throw invalid(`${name} must be a text of 1 to ${MOST_CHARACTERS} characters`);
  }
  if (/[/\\?#\x00-\x1f\x7f]/.test(value)) {
    throw invalid(`${name} must hold none of / \\ ? # and no control character: ${JSON.stringify(value)}`);
  }
  if (value.startsWith("__")) throw invalid(`${name} must not begin with __, which is reserved: ${value}`);
  if (/\p{Surrogate}/u.test(value)) throw invalid(`${name} holds a lone surrogate`);
  return value;
}

/** A UUIDv7 (RFC 9562), as the library gives turns: unique, and ordered by the millisecond of its making. */
export function newTurnId(): string {
  const time = Date.now().toString(16).padStart(12, "0");
  const random = crypto.randomUUID().slice(15); // a UUIDv4 from its random digits on, variant included
  return `${time.slice(0, 8)}-${time.slice(8)}-7${random}`;
}

/** An id as one segment of a path. */
export function segment(value: string, name: string): string {
  // A URL with such a segment means the folder above, or the same one.
  if (value === "." || value === "..") throw invalid(`${name} cannot be ${value}`);
  return encodeURIComponent(checkId(value, name));
}

/** An id as the value of a header: its UTF-8 bytes, one character each. */
export function headerValue(id: string, name: string): string {
  checkId(id, name);
  if (id !== id.trim()) throw invalid(`${name} begins or ends with a space, which would be lost on the way`);
  return String.fromCharCode(...new TextEncoder().encode(id));
}
