/** A standby that was named by its URL: whether it is a copy of this store, and follows it now. */
import { formatBytes } from "../../base/bytes.ts";
import { formatDuration } from "../../base/duration.ts";
import { monotonicMs, sleep } from "../../base/monotonic.ts";
import {
  type PrimaryPosition,
  readPosition,
  readStandby,
  type StandbyState,
} from "../../store/checklist/standby-state.ts";
import type { Queryable } from "../../store/database.ts";
import type { CheckContext } from "../context.ts";
import type { Result } from "../item.ts";
import { openStore } from "./parts.ts";
import { clusterScope, queryEvidence, result } from "./verdicts.ts";

/** A streaming standby needs some milliseconds; one that is fed with files may need its next file. */
const waitMs = 10_000;

export interface LagLimits {
  readonly ms: number;
  readonly bytes: number;
}

/**
 * The store says where it is, and the standby must come to that place.
 * @throws when one of them cannot be asked
 */
export async function standbyFollows(context: CheckContext, limits: LagLimits): Promise<Result[]> {
  const { standby } = context;
  if (!standby) return [];
  if (standby.state === "unreachable") throw new Error(`the standby cannot be reached: ${standby.reason}`);
  const asked = await readPosition(openStore(context));
  const primary = asked.rows[0]!;
  const { looked, waitedMs } = await reached(standby.db, primary.position, context.signal);
  const state = looked.rows[0]!;
  const evidence = [
    queryEvidence(context, asked),
    { ...queryEvidence(context, looked), host: state.address ?? "the standby" },
  ];
  const scope = clusterScope(context);
  if (isTogether(primary, state) && primary.isLab === null)
    throw new Error(
      "the standby is on the store's own host, and this login may not see whether that is a lab",
    );
  const problem = problemOf(primary, state, limits);
  if (problem !== undefined)
    return [
      result(scope, "fail", `the standby ${problem}`, evidence, {
        todo: "set up a standby (playbook record-store), and see that it streams",
      }),
    ];
  const behind = Math.max(0, state.behindBytes!);
  const where = `the standby at ${state.address ?? "a local socket"}`;
  const message =
    behind === 0
      ? `${where} came to where the store was within ${formatDuration(Math.max(1, Math.ceil(waitedMs)))}`
      : `${where} follows, ${formatBytes(behind)} behind`;
  return [result(scope, "pass", message, evidence)];
}

async function reached(db: Queryable, position: string, signal: AbortSignal) {
  const startedMs = monotonicMs();
  for (;;) {
    const looked = await readStandby(db, position);
    const { inRecovery, paused, behindBytes } = looked.rows[0]!;
    const waitedMs = monotonicMs() - startedMs;
    const isSettled = !inRecovery || paused || behindBytes === null || behindBytes <= 0;
    if (isSettled || waitedMs > waitMs || signal.aborted) return { looked, waitedMs };
    await sleep(100);
  }
}

/** On one machine. By its addresses, or because both say that we are on theirs. */
function isTogether(primary: PrimaryPosition, state: StandbyState): boolean {
  return state.address === primary.address || (state.isLocal && primary.isLocal);
}

function problemOf(primary: PrimaryPosition, state: StandbyState, limits: LagLimits): string | undefined {
  if (state.system !== primary.system) return "is a copy of another server";
  if (!state.inRecovery) return "takes writes of its own and follows nobody";
  if (isTogether(primary, state) && !primary.isLab) return "is on the store's own host and is lost with it";
  if (state.paused) return "has paused its replay";
  const { behindBytes, replayedAt } = state;
  if (behindBytes === null) return "has replayed nothing yet";
  if (behindBytes <= 0) return undefined;
  if (behindBytes > limits.bytes)
    return `is ${formatBytes(behindBytes)} behind, more than ${formatBytes(limits.bytes)}`;
  const behindMs = replayedAt ? primary.now.getTime() - replayedAt.getTime() : Number.POSITIVE_INFINITY;
  if (behindMs <= limits.ms) return undefined;
  const since = replayedAt ? formatDuration(Math.round(behindMs)) : "ever";
  return `has replayed nothing for ${since}, and ${formatBytes(behindBytes)} wait`;
}
