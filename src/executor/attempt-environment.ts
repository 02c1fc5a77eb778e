/**
 * Who a child is, told by its environment. Nothing of the executor's own
 * environment gets through but what is named here: above all no store URL.
 */
import { formatInstant } from "../base/instant.ts";
import { heavyKeys, ordinaryShardCount } from "../spec/shard-count.ts";
import type { Attempt } from "./attempt.ts";

/** Passed on from the executor's own environment. */
const inherited = ["PATH", "HOME", "LANG"] as const;
const defaultPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/**
 * @param socket path of the report socket, see {@link socketAddress}
 * @param own the executor's environment
 */
export function attemptEnvironment(
  attempt: Attempt,
  socket: string,
  own: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  const { claim, order, definition } = attempt;
  const fireTime = formatInstant(order.fireTime);
  const environment: Record<string, string> = {};
  for (const name of inherited) {
    const value = own[name];
    if (value !== undefined) environment[name] = value;
  }
  environment.PATH ??= defaultPath;
  Object.assign(environment, definition.environment, {
    TZ: "UTC",
    ESCAPEMENT_JOB: attempt.job,
    ESCAPEMENT_FIRE_TIME: fireTime,
    ESCAPEMENT_SHARD_NO: String(claim.shardNo),
    ESCAPEMENT_SHARD_COUNT: String(order.shardCount),
    ESCAPEMENT_ATTEMPT: String(claim.attempt),
    ESCAPEMENT_FENCE_TOKEN: String(claim.fenceToken),
    ESCAPEMENT_EXECUTION_ID: order.executionId,
    ESCAPEMENT_RUN_NO: String(order.runNo),
    ESCAPEMENT_IDEMPOTENCY_KEY: `${attempt.job}/${order.periodKey ?? fireTime}`,
    ESCAPEMENT_TIME_ZONE: definition.timeZone,
    ESCAPEMENT_INCARNATION: attempt.lease.incarnation,
    ESCAPEMENT_SOCKET: socketAddress(socket, attempt.capability),
    ...(order.periodKey === null ? {} : { ESCAPEMENT_PERIOD: order.periodKey }),
    ...shardKeys(attempt),
  });
  return environment;
}

/** Path and capability in one value. */
export function socketAddress(path: string, capability: string): string {
  return `${path}?token=${capability}`;
}

/** Shards by hash: which keys this one must do, or leave to the shards of their own. */
function shardKeys({ claim, definition }: Attempt): Record<string, string> {
  if (definition.shards.by !== "hash") return {};
  const heavy = heavyKeys(definition);
  const ordinary = ordinaryShardCount(definition);
  const own = heavy[claim.shardNo - ordinary];
  return {
    ESCAPEMENT_HASH_SHARDS: String(ordinary),
    ...(own === undefined ? { ESCAPEMENT_HEAVY_KEYS: JSON.stringify(heavy) } : { ESCAPEMENT_SHARD_KEY: own }),
  };
}
