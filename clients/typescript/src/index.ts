/** A client of the HTTP API of Agent Memory Toolkit. */

export { MemoryClient } from "./client.js";
export {
  AgentMemoryError,
  ConfigurationError,
  Conflict,
  InvalidInput,
  MemoryDisabled,
  ModelError,
  NotFound,
  QuotaExceeded,
  StaticMemoryError,
  StoreUnavailable,
} from "./errors.js";
export type { ErrorFacts } from "./errors.js";
export type { CallOptions, ClientOptions, WriteOptions } from "./http.js";
export { Listing } from "./listing.js";
export type { ListingOptions, Page } from "./listing.js";
export type * from "./schema.js";
export { ThreadScope } from "./thread.js";
export type { MemoriesOptions, ThreadOptions } from "./thread.js";
export { GroupScope, UserScope } from "./user.js";
