/** What is known of an error beside its code and its message. */
export interface ErrorFacts {
  /** The HTTP status, if a server answered. */
  status?: number | undefined;
  /** Whether the same call may succeed later. */
  retryable?: boolean;
  /** In how many seconds the server wants to be asked again. */
  retryAfter?: number | undefined;
  /** What to do about it. */
  hint?: string;
  cause?: unknown;
}

/**
 * The root of all errors of this client. `code` is stable and meant for programs. The subclasses have the names of the
 * Python library.
 */
export class AgentMemoryError extends Error {
  readonly code: string;
  /** The HTTP status; undefined if no server answered. */
  readonly status: number | undefined;
  /** Whether the same call may succeed later. */
  readonly retryable: boolean;
  /** In how many seconds the server wants to be asked again, if it said so. */
  readonly retryAfter: number | undefined;
  /** What to do about it, where the client knows. */
  readonly hint: string | undefined;

  constructor(code: string, message: string, facts: ErrorFacts = {}) {
    super(message, facts.cause === undefined ? undefined : { cause: facts.cause });
    this.name = new.target.name;
    this.code = code;
    this.status = facts.status;
    this.retryable = facts.retryable ?? false;
    this.retryAfter = facts.retryAfter;
    this.hint = facts.hint ?? HINTS.get(code);
  }
}

/** An argument is wrong; nothing was written. */
export class InvalidInput extends AgentMemoryError {}
/** There is no such item in this scope. Another user's items look like this too. */
export class NotFound extends AgentMemoryError {}
/** The id holds other content, or somebody else changed the item first. */
export class Conflict extends AgentMemoryError {}
/** The user's tier allows no more memories. */
export class QuotaExceeded extends AgentMemoryError {}
/** Memory is switched off for this scope. */
export class MemoryDisabled extends AgentMemoryError {}
/** Static knowledge cannot be changed through a scope. */
export class StaticMemoryError extends AgentMemoryError {}
/** The server does not accept the credentials, or is no server of this API. */
export class ConfigurationError extends AgentMemoryError {}
/** The server or its store did not answer in time, or wants fewer requests. The call may be repeated. */
export class StoreUnavailable extends AgentMemoryError {}
/** A model gave no usable answer. */
export class ModelError extends AgentMemoryError {}

const KINDS = new Map<string, typeof AgentMemoryError>([
  ["invalid_input", InvalidInput],
  ["too_large", InvalidInput],
  ["not_found", NotFound],
  ["conflict", Conflict],
  ["quota_exceeded", QuotaExceeded],
  ["memory_disabled", MemoryDisabled],
  ["static_memory", StaticMemoryError],
  ["configuration", ConfigurationError],
  ["unauthenticated", ConfigurationError],
  ["forbidden", ConfigurationError],
  ["no_such_path", ConfigurationError],
  ["store_unavailable", StoreUnavailable],
  ["rate_limited", StoreUnavailable],
  ["model", ModelError],
]);

const ADDRESS = "`url` is the address that `agent-memory serve` prints, or that of the function app";
const HINTS = new Map([
  ["unauthenticated", "give MemoryClient a `credential`: a key of `agent-memory api-key`, or a token of your issuer"],
  ["forbidden", "use a credential of this user or group, or a key made with --acts-for-users (for operators: --operates)"],
  ["too_large", "send less in one call"],
  ["rate_limited", "wait `retryAfter` seconds, and send fewer requests at a time"],
  ["configuration", ADDRESS],
  ["no_such_path", ADDRESS],
]);

/** The error that a code of the API means. */
export function errorOf(code: string, message: string, facts: ErrorFacts = {}): AgentMemoryError {
  return new (KINDS.get(code) ?? AgentMemoryError)(code, message, facts);
}

/** Refuses an argument before anything is sent. */
export function invalid(message: string): InvalidInput {
  return new InvalidInput("invalid_input", message);
}
