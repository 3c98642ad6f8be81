import { AgentMemoryError, invalid } from "./errors.js";

/**
 * A value as JSON. `JSON.stringify` makes null of an invalid date and of NaN, and null means "no limit": a deletion of
 * what was said until then would delete everything.
 */
export function jsonOf(value: unknown): string {
  try {
    return JSON.stringify(value, checked);
  } catch (error) {
    if (error instanceof AgentMemoryError) throw error;
    throw invalid(`this cannot be written as JSON: ${(error as Error).message}`);
  }
}

function checked(this: unknown, name: string, value: unknown): unknown {
  // A date has become text, or null, before it gets here.
  const given = (this as Record<string, unknown>)[name];
  if (given instanceof Date && Number.isNaN(given.getTime())) throw invalid(`${name || "a value"} is an invalid date`);
  if (typeof value === "number" && !Number.isFinite(value)) throw invalid(`${name || "a value"} is ${value}, which JSON has not`);
  return value;
}

const RESTRICTIONS = ["id", "query", "since", "until", "thread_id", "project_id"];

/** Refuses a deletion whose restriction is undefined: JSON leaves it out, and everything would be deleted. */
export function checkRestrictions<T extends object>(options: T): T {
  const missing = RESTRICTIONS.find((name) => name in options && (options as Record<string, unknown>)[name] === undefined);
  if (missing) throw invalid(`${missing} is undefined, and without it more would be deleted; leave it out if you mean that`);
  return options;
}
