/** The next command to type for a fire that went wrong. */
import { argument } from "../rules/rule.ts";
import type { Cause, FailureClass } from "./diagnosis.ts";

const reason = "--reason 'diagnosed'";

/** @param job `namespace/name` */
export function nextCommand(kind: FailureClass, cause: Cause, job: string, fireTime: Date): string {
  const name = argument(job);
  const at = fireTime.toISOString();
  switch (kind) {
    case "never-fired":
      return neverFired(cause, name, at);
    case "duplicate":
      return "escapement diagnose duplicates --url URL --table TABLE --key COLUMNS --amount COLUMN";
    case "partial":
      return cause === "unrepeatable-call" || cause === "unknown"
        ? "escapement guard list --url URL"
        : `escapement shards ${name} ${at}`;
    case "interrupted":
    case "shard-failed":
      if (cause === "oom-kill") return `journalctl -k --since '${utc(fireTime)}' | grep -i 'out of memory'`;
      if (cause === "cancelled" || cause === "replaced") return `escapement shards ${name} ${at}`;
      return kind === "shard-failed"
        ? `escapement rerun ${name} ${at} --failed ${reason}`
        : `escapement shards ${name} ${at}`;
    case "blocked":
      return cause === "period-taken"
        ? `escapement executions --job ${name}`
        : `escapement backfill ${name} --from ${at} --to ${at} ${reason} --dry-run`;
    case "late":
      return cause === "no-leader" || cause === "no-executor" || cause === "store-outage"
        ? "escapement status"
        : `escapement explain-fire ${name} ${at}`;
  }
}

function neverFired(cause: Cause, name: string, at: string): string {
  switch (cause) {
    case "paused":
    case "deleted":
    case "edited":
    case "bad-definition":
      return `escapement jobs show ${name}`;
    case "chain-broken":
      return `escapement explain-fire ${name} ${at}`;
    default:
      return `escapement backfill ${name} --from ${at} --to ${at} ${reason} --dry-run`;
  }
}

/** As journalctl takes it. */
function utc(date: Date): string {
  return `${date.toISOString().slice(0, 19).replace("T", " ")} UTC`;
}
