/**
 * Random histories that are right by construction: a small simulation of
 * jobs, shards, attempts that are killed at any point, frozen processes whose
 * late writes are refused, and fires that policy kept from running.
 */
import { type AttemptRecord, type History, type Obligation, parseHistory } from "../../src/chaos/history.ts";
import type { SeededRandom } from "./seeded-random.ts";

const baseMs = Date.parse("2026-03-01T00:00:00.000Z");
export const isoAt = (ms: number): string => new Date(baseMs + Math.round(ms)).toISOString();

type WitnessEvent = { ms: number; list: "effects" | "refusals" | "sightings"; row: Record<string, unknown> };

interface Draft {
  random: SeededRandom;
  troubled: number;
  token: number;
  endMs: number;
  obligations: Obligation[];
  executions: Record<string, unknown>[];
  attempts: AttemptRecord[];
  events: WitnessEvent[];
  faults: Record<string, unknown>[];
}

export interface GeneratorOptions {
  readonly jobs?: number;
  readonly firesPerJob?: number;
  readonly shardCount?: number;
  /** Share of the shards that need more than one attempt; default 0.4. */
  readonly troubled?: number;
}

/** A random correct history: some of everything, and requirements that it meets. */
export function correctHistory(random: SeededRandom, options: GeneratorOptions = {}): History {
  const draft: Draft = {
    random,
    troubled: options.troubled ?? 0.4,
    token: 1_000,
    endMs: 0,
    obligations: [],
    executions: [],
    attempts: [],
    events: [],
    faults: [],
  };
  const jobs = options.jobs ?? random.between(2, 5);
  for (let i = 0; i < jobs; i++) addJob(draft, `job-${i}`, options);
  // A stretch in which PostgreSQL was away, over all fires.
  draft.faults.push({
    kind: "store-stop",
    target: "postgres",
    phase: "store-down",
    at: isoAt(0),
    until: isoAt(draft.endMs),
    proven: true,
  });
  draft.events.sort((a, b) => a.ms - b.ms);
  const lists: Record<WitnessEvent["list"], unknown[]> = { effects: [], refusals: [], sightings: [] };
  for (const [i, event] of draft.events.entries()) lists[event.list].push({ ...event.row, seq: i + 1 });
  return parseHistory({
    readAt: isoAt(draft.endMs + 60_000),
    settled: true,
    limits: { lateMs: 5_000, settleMs: 10_000 },
    requirements: { faultKinds: ["store-stop"], phases: ["store-down"], obligationsInFault: 1 },
    obligations: draft.obligations,
    executions: draft.executions,
    attempts: draft.attempts,
    ...lists,
    faults: draft.faults,
  });
}

function addJob(draft: Draft, job: string, options: GeneratorOptions): void {
  const { random } = draft;
  const mode = random.pick(["once", "replace"] as const);
  const shardCount = options.shardCount ?? random.between(1, 6);
  const policy = random.pick(["run-now", "skip", "within-window", undefined] as const);
  const everyMs = random.between(1, 30) * 1_000;
  const hasPeriod = random.chance(0.3);
  const fires = options.firesPerJob ?? random.between(4, 10);
  for (let i = 0; i < fires; i++) {
    const fireMs = i * everyMs;
    const obligation: Obligation = { job, fireTime: isoAt(fireMs), shardCount, allowed: "exactly-one", mode };
    if (policy) {
      obligation.misfire = { policy, graceMs: 6_000 };
      if (policy === "within-window") obligation.misfire.windowMs = 20_000;
    }
    if (hasPeriod) obligation.period = `p${i}`;
    // The first two fires of each job run, so that every history has something to spoil.
    const fate =
      i < 2 ? "run" : random.pick(["run", "run", "run", "run", "run", "none", "excused", "misfire"] as const);
    if (fate === "none") addNone(draft, obligation);
    else if (fate === "excused") addExcused(draft, obligation);
    else addRun(draft, obligation, fireMs, fate === "misfire" && policy === "run-now");
    draft.endMs = Math.max(draft.endMs, fireMs + 1_000);
  }
}

function addNone(draft: Draft, obligation: Obligation): void {
  const because = draft.random.pick(["revoked", "blocked", "missed"] as const);
  const status = { revoked: "cancelled", blocked: "blocked", missed: "missed" }[because];
  draft.obligations.push({ ...obligation, allowed: "none", because });
  if (because !== "revoked" || draft.random.chance(0.5))
    addExecution(draft, obligation, status, `was ${because}`);
}

function addExcused(draft: Draft, obligation: Obligation): void {
  draft.obligations.push({ ...obligation, allowed: "at-most-one" });
  addExecution(draft, obligation, draft.random.pick(["missed", "blocked", "cancelled", "failed"]), "policy");
}

function addExecution(
  draft: Draft,
  { job, fireTime }: Obligation,
  status: string,
  reason?: string,
  trigger = "schedule",
): void {
  draft.executions.push({ job, fireTime, status, trigger, ...(reason ? { reason } : {}) });
}

function addRun(draft: Draft, obligation: Obligation, fireMs: number, misfire: boolean): void {
  const { random } = draft;
  draft.obligations.push(random.chance(0.1) ? { ...obligation, allowed: "at-most-one" } : obligation);
  const trigger = misfire ? "misfire" : "schedule";
  addExecution(draft, obligation, "success", undefined, trigger);
  const startMs = fireMs + (misfire ? random.between(10_000, 40_000) : random.between(0, 3_000));
  for (let shardNo = 0; shardNo < obligation.shardCount; shardNo++)
    addShard(draft, obligation, shardNo, startMs);
}

/** Attempts one after the other, each with its own end, until one succeeds. */
function addShard(draft: Draft, obligation: Obligation, shardNo: number, startMs: number): void {
  const { random } = draft;
  const { job, fireTime, mode } = obligation;
  let atMs = startMs + random.between(0, 500);
  let applied = false;
  const fates = random.chance(draft.troubled)
    ? Array.from({ length: random.between(1, 3) }, () => random.pick(failures))
    : [];
  let zombie: { claim: Record<string, unknown>; owner: string; fromMs: number; mute: boolean } | undefined;
  for (const [i, fate] of [...fates, "success" as const].entries()) {
    draft.token += 10;
    const claim = { job, fireTime, shardNo, attempt: i + 1, fenceToken: draft.token };
    const owner = `executor-${random.between(1, 3)}/${draft.token}`;
    const fromMs = atMs;
    const actMs = fromMs + random.between(5, 50);
    const endMs = actMs + random.between(5, 50);
    const payload = `${job}-${fireTime}-${shardNo}`;
    const act = (ms: number) => {
      if (mode === "once" && applied)
        draft.events.push({ ms, list: "refusals", row: { ...claim, reason: "repeat" } });
      else draft.events.push({ ms, list: "effects", row: { ...claim, payload } });
      applied = true;
    };
    const status = fate === "success" || fate === "interrupted" ? fate : "failed";
    draft.attempts.push({ ...claim, owner, startedAt: isoAt(fromMs), endedAt: isoAt(endMs), status });
    if (fate === "success" || fate === "killed-after") act(actMs);
    if (fate !== "zombie")
      draft.events.push({
        ms: fromMs,
        list: "sightings",
        row: { ...claim, from: isoAt(fromMs), until: isoAt(endMs) },
      });
    if (zombie) {
      // Thawed while its successor runs: refused, then killed.
      const untilMs = fromMs + 4;
      const heardMs = zombie.mute ? fromMs + 1 : zombie.fromMs;
      draft.events.push({ ms: fromMs + 2, list: "refusals", row: { ...zombie.claim, reason: "stale" } });
      draft.events.push({
        ms: heardMs,
        list: "sightings",
        row: { ...zombie.claim, from: isoAt(heardMs), until: isoAt(untilMs) },
      });
      draft.faults.push({
        kind: "sigstop",
        target: zombie.owner,
        phase: "running",
        at: isoAt(zombie.fromMs),
        until: isoAt(untilMs),
        proven: true,
        attemptsHit: 1,
        unsupervised: [zombie.owner],
      });
    }
    // Some froze before their first word, but none that an older zombie was refused for.
    const mute = zombie === undefined && random.chance(0.5);
    zombie = fate === "zombie" ? { claim, owner, fromMs, mute } : undefined;
    atMs = endMs + random.between(100, 3_000);
  }
  draft.endMs = Math.max(draft.endMs, atMs);
}

const failures = ["killed-before", "killed-after", "interrupted", "exit-1", "zombie"] as const;
