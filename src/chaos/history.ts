/**
 * A history: what should have happened, what the records say happened, and
 * what an independent witness saw happen. The checker judges it and nothing
 * else, so a history kept as JSON can be judged again at any time.
 *
 * - obligations: from the job definitions; every fire that came due, and what may become of it
 * - executions, attempts: from the record store
 * - effects, refusals, sightings: from the witness, which has no unique index
 * - faults: from whoever injected them, each with its proof
 *
 * Instants are RFC 3339 in UTC with exactly three decimals, so that equal
 * instants are equal strings and order is the order of strings.
 */
import { z } from "zod";
import { EscapementError } from "../base/errors.ts";

const instant = z
  .string()
  .regex(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/, "an instant in UTC with milliseconds")
  // Nothing compares with an instant that does not exist: all that it is part of would go unjudged.
  .refine(isInstant, "an instant that exists");
const count = z.int().min(0);
/** A fire with more shards is no fire of ours; each of them is looked for. */
const mostShards = 100_000;
const fire = { job: z.string().min(1), fireTime: instant };
/** Shards are numbered from 0. */
const shard = { ...fire, shardNo: count };
const claim = { ...shard, attempt: z.int().min(1), fenceToken: count };

/** The declared misfire policy of a job, and its limits in milliseconds after the fire time. */
const misfire = z.strictObject({
  policy: z.enum(["run-now", "skip", "within-window"]),
  /** A start up to this late is no misfire. */
  graceMs: count,
  /** For within-window: a start later than this is forbidden. */
  windowMs: count.optional(),
});

const obligation = z.strictObject({
  ...fire,
  shardCount: z.int().min(1).max(mostShards),
  /** `at-most-one`: may end without effect if the records say why. `none`: must have no effect. */
  allowed: z.enum(["exactly-one", "at-most-one", "none"]),
  /** Why nothing may run; needed with `none`. */
  because: z.enum(["revoked", "blocked", "missed"]).optional(),
  /**
   * `once`: each accepted effect adds up, so one a shard.
   * `replace`: the effect is a whole recomputation; a newer attempt may repeat it, unchanged,
   * as long as no attempt has been recorded as a success.
   */
  mode: z.enum(["once", "replace"]),
  period: z.string().min(1).optional(),
  misfire: misfire.optional(),
  /** Somebody else's job: no witness sees its effects, so the records alone are judged. */
  recordsOnly: z.boolean().optional(),
  /** Its attempts may outlive their lease; only the fence protects its effect. */
  fenceOnly: z.boolean().optional(),
});

const execution = z.strictObject({
  ...fire,
  status: z.enum([
    "planned",
    "pending",
    "running",
    "success",
    "failed",
    "interrupted",
    "missed",
    "blocked",
    "cancelled",
  ]),
  trigger: z.enum(["schedule", "misfire", "manual"]),
  reason: z.string().optional(),
});

const attempt = z.strictObject({
  ...claim,
  /** Incarnation of the executor. */
  owner: z.string(),
  /** The node it ran on, for people. */
  node: z.string().optional(),
  /** By the database clock. */
  startedAt: instant.nullable(),
  endedAt: instant.nullable(),
  status: z.enum(["running", "success", "failed", "interrupted", "cancelled"]),
});

const effect = z.strictObject({
  ...claim,
  /** Order of commit at the witness; one counter for effects, refusals and sightings. */
  seq: count,
  payload: z.string(),
});

const refusal = z.strictObject({
  ...claim,
  seq: count,
  /** `stale`: a newer token had been seen. `repeat`: the effect was there already. */
  reason: z.enum(["stale", "repeat"]),
});

/** The life of one attempt's process as the witness saw it, on the witness's clock. */
const sighting = z.strictObject({ ...claim, seq: count, from: instant, until: instant.nullable() });

const fault = z.strictObject({
  kind: z.string().min(1),
  target: z.string(),
  phase: z.string().optional(),
  at: instant,
  /** When the target was back; null if it never was. */
  until: instant.nullable(),
  /** True if somebody looked and saw the fault in effect. */
  proven: z.boolean(),
  /** Attempts that were running on the target. */
  attemptsHit: count.default(0),
  /** Executor incarnations whose children nobody could have killed while the fault lasted. */
  unsupervised: z.array(z.string()).default([]),
});

const limits = z.strictObject({
  /** An attempt may start this much before its fire time; 0 by the rules. */
  earlyMs: count.default(0),
  /** A first start later than this, without a misfire marker, is late; null = not judged. */
  lateMs: count.nullable().default(null),
  /** A fire is judged for loss only when the records were read this long after it. */
  settleMs: count.default(0),
  /** Two processes of one shard may be seen together for this long. */
  overlapMs: count.default(0),
  /** A process may live this long after its supervisor could act again. */
  killGraceMs: count.default(1_000),
});

/** What must have occurred for a pass to mean something. */
const requirements = z.strictObject({
  faultKinds: z.array(z.string()).default([]),
  phases: z.array(z.string()).default([]),
  obligationsInFault: count.default(0),
  attemptsHit: count.default(0),
  refusals: count.default(0),
});

const historySchema = z.strictObject({
  /** Time of the final read, by the database clock. */
  readAt: instant,
  /** True if two reads in a row were equal and nothing was left to run. */
  settled: z.boolean(),
  limits: limits.prefault({}),
  requirements: requirements.prefault({}),
  obligations: z.array(obligation),
  /** Absent when the records of executions could not be read. */
  executions: z.array(execution).optional(),
  attempts: z.array(attempt),
  effects: z.array(effect),
  refusals: z.array(refusal).default([]),
  /** Stale writes that the record store's own fence refused. */
  storeRefusals: count.optional(),
  sightings: z.array(sighting).default([]),
  faults: z.array(fault).default([]),
});

export type History = z.output<typeof historySchema>;
export type Obligation = z.output<typeof obligation>;
export type ExecutionRecord = z.output<typeof execution>;
export type AttemptRecord = z.output<typeof attempt>;
export type Effect = z.output<typeof effect>;
export type Refusal = z.output<typeof refusal>;
export type Sighting = z.output<typeof sighting>;
export type Fault = z.output<typeof fault>;

/**
 * Reads a history from parsed JSON.
 * @throws E_BAD_DATA for a wrong shape, an obligation stated twice, a `none` without its reason, a
 *   `within-window` without a window, or a place in the witness's order that is used twice
 */
export function parseHistory(value: unknown, source = "history"): History {
  const result = historySchema.safeParse(value);
  if (!result.success) {
    const issue = result.error.issues[0]!;
    throw badData(
      `${source}: ${issue.path.join(".") || "top level"}: ${issue.message}`,
      result.error.issues.length,
    );
  }
  const history = result.data;
  const fires = new Set<string>();
  for (const item of history.obligations) {
    const key = fireKey(item);
    if (fires.has(key)) throw badData(`${source}: obligation ${item.job} ${item.fireTime} is stated twice`);
    fires.add(key);
    if (item.allowed === "none" && item.because === undefined)
      throw badData(`${source}: obligation ${item.job} ${item.fireTime} allows none and does not say why`);
    if (item.misfire?.policy === "within-window" && item.misfire.windowMs === undefined)
      throw badData(`${source}: obligation ${item.job} ${item.fireTime} has no windowMs`);
  }
  const places = new Set<number>();
  for (const list of [history.effects, history.refusals, history.sightings]) {
    for (const { seq } of list) {
      if (places.has(seq)) throw badData(`${source}: the witness's place ${seq} is used twice`);
      places.add(seq);
    }
  }
  return history;
}

function isInstant(text: string): boolean {
  const date = new Date(text);
  return !Number.isNaN(date.getTime()) && date.toISOString() === text;
}

/** Identity of a fire as one string. */
export function fireKey(of: { job: string; fireTime: string }): string {
  return `${of.fireTime} ${of.job}`;
}

function badData(what: string, problems = 1): EscapementError {
  const rest = problems > 1 ? ` (and ${problems - 1} more)` : "";
  return new EscapementError("E_BAD_DATA", {
    what: what + rest,
    hint: "docs/exactly-once.md describes a history",
  });
}
