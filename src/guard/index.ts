/** What job authors import: `import { openGuard } from "escapement/guard"`. The manual is docs/guard.md. */
export { type ErrorCode, EscapementError, isEscapementError } from "../base/errors.ts";
export type { Checkpoint } from "./checkpoint.ts";
export type { ClaimOutcome } from "./claim.ts";
export {
  type CallAttempt,
  CallNotSent,
  type CallOptions,
  type CallOutcome,
  CallRefused,
} from "./external-call.ts";
export { type Fence, fenceFromEnvironment } from "./fence.ts";
export { type Guard, openGuard } from "./guard.ts";
export type { OnceOptions, OnceOutcome, OnceRun } from "./once.ts";
export type { Queryable } from "./queryable.ts";
export type { ReplaceBy, Replaced } from "./replace-whole.ts";
export type { WorkItem, WorkList, WorkListOptions, WorkOptions, WorkSummary } from "./work-items.ts";
