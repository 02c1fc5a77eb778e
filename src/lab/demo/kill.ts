/** SIGKILL to the leader, and to an executor in the middle of its work; with the proof that it hit something. */
import { EscapementError } from "../../base/errors.ts";
import { readLeader } from "../../store/leadership.ts";
import {
  firstPlannedBy,
  type LostAttempt,
  lostAttempts,
  type RunningAttempts,
  runningAttempts,
} from "./records.ts";
import { type Stage, waitFor } from "./stage.ts";

export interface LeaderKill {
  readonly node: string;
  readonly pid: number;
  readonly epoch: number;
  /** Milliseconds since the demo began. */
  readonly atMs: number;
  /** Null: nobody took over while we waited. */
  readonly successor: {
    readonly node: string;
    readonly epoch: number;
    /** Milliseconds after the kill, by the store's clock. */
    readonly ledAfterMs: number;
    /** The same, until it inserted its first execution; null: not while we waited. */
    readonly plannedAfterMs: number | null;
  } | null;
}

export interface ExecutorKill {
  readonly node: string;
  readonly pid: number;
  readonly incarnation: string;
  readonly atMs: number;
  /** What it ran at the last look before the kill, by job. */
  readonly running: Readonly<Record<string, number>>;
  /** What the store says it held when it died; each was put back and given to another attempt. */
  readonly lost: readonly LostAttempt[];
  /** Milliseconds from the kill until all of these were put back; null: none was, while we waited. */
  readonly putBackAfterMs: number | null;
}

const takeoverDeadlineMs = 40_000;
const putBackDeadlineMs = 40_000;
/** Bursts of attempts come and go; looking seldom would miss them. */
const aimEveryMs = 15;

/**
 * Kills the leader.
 * @returns what waits for the next one, so that more can be done meanwhile. @throws E_UNAVAILABLE when nobody leads
 */
export async function killLeader(stage: Stage): Promise<() => Promise<LeaderKill>> {
  const { cluster } = stage;
  const before = await waitFor(stage, takeoverDeadlineMs, async () => (await cluster.leader()) ?? null);
  if (!before) {
    throw new EscapementError("E_UNAVAILABLE", {
      what: "no scheduler became the leader",
      hint: "the machine may be too busy; run the demo again",
    });
  }
  const node = cluster.node(before.node);
  const pid = node.pid!;
  await node.kill();
  const killed = { node: node.name, pid, epoch: before.epoch, atMs: stage.elapsedMs() };
  const { rows } = await cluster.store.query<{ now: Date }>("SELECT clock_timestamp() AS now");
  const killedAt = rows[0]!.now.getTime();
  stage.progress(`SIGKILL to ${node.name} (pid ${pid}), the leader of epoch ${before.epoch}`);
  return async () => ({ ...killed, successor: await successorOf(stage, before.epoch, killedAt) });
}

async function successorOf(stage: Stage, epoch: number, killedAt: number): Promise<LeaderKill["successor"]> {
  const { store } = stage.cluster;
  const next = await waitFor(stage, takeoverDeadlineMs, async () => {
    const leader = await readLeader(store);
    return leader.epoch > epoch && leader.alive && leader;
  });
  if (!next?.node || !next.acquiredAt) return null;
  const ledAfterMs = next.acquiredAt.getTime() - killedAt;
  stage.progress(`${next.node} leads, epoch ${next.epoch}, ${seconds(ledAfterMs)} after the kill`);
  const planned = await waitFor(stage, takeoverDeadlineMs, () => firstPlannedBy(store, next.epoch));
  const plannedAfterMs = planned && planned.getTime() - killedAt;
  return { node: next.node, epoch: next.epoch, ledAfterMs, plannedAfterMs };
}

/** Which executor to kill, if one comes along in time. */
export interface Aim {
  /** It runs attempts of all of these. */
  readonly jobs: readonly string[];
  /** And this is so. */
  when(): boolean;
  readonly patienceMs: number;
}

/**
 * Kills an executor that fits the aim, else one that runs anything. Tries
 * another one when the store says that it held nothing after all.
 */
export async function killExecutor(stage: Stage, aim: Aim): Promise<ExecutorKill | null> {
  for (let tries = 0; tries < 3; tries++) {
    const target = await findTarget(stage, aim);
    if (!target) return null;
    const node = stage.cluster.node(target.node);
    const pid = node.pid!;
    await node.kill();
    const atMs = stage.elapsedMs();
    stage.progress(`SIGKILL to ${node.name} (pid ${pid}) with ${runningText(target)}`);
    const lost = await waitFor(stage, putBackDeadlineMs, async () => {
      const found = await lostAttempts(stage.cluster.store, target.incarnation);
      if (found.length > 0) return found;
      return (await isGone(stage, target.incarnation)) && [];
    });
    const putBackAfterMs = lost && lost.length > 0 ? stage.elapsedMs() - atMs : null;
    const kill = {
      node: node.name,
      pid,
      incarnation: target.incarnation,
      atMs,
      running: target.byJob,
      lost: lost ?? [],
      putBackAfterMs,
    };
    if (putBackAfterMs !== null) {
      stage.progress(`${kill.lost.length} shards put back ${seconds(putBackAfterMs)} after the kill`);
      return kill;
    }
    stage.progress(`${node.name} held nothing any more; starting it again`);
    await node.start();
    await stage.cluster.ready(node.name);
  }
  return null;
}

async function findTarget(stage: Stage, aim: Aim): Promise<RunningAttempts | null> {
  const looking = async (fits: (one: RunningAttempts) => boolean) => {
    const found = (await runningAttempts(stage.cluster.store)).filter(
      (one) => fits(one) && stage.cluster.node(one.node).state === "running",
    );
    return found.sort((a, b) => b.count - a.count)[0] ?? null;
  };
  const runsAll = (one: RunningAttempts) => aim.jobs.every((job) => (one.byJob[job] ?? 0) > 0);
  const best = await waitFor(
    stage,
    aim.patienceMs,
    async () => aim.when() && looking((one) => aim.when() && runsAll(one)),
    aimEveryMs,
  );
  return best ?? waitFor(stage, 2 * aim.patienceMs, () => looking(() => true), aimEveryMs);
}

/** Declared dead, with whatever it held put back in the same transaction. */
async function isGone(stage: Stage, incarnation: string): Promise<boolean> {
  const { rows } = await stage.cluster.store.query(
    "SELECT 1 FROM escapement.executor WHERE incarnation = $1 AND state = 'reaped'",
    [incarnation],
  );
  return rows.length > 0;
}

function runningText({ count, byJob }: RunningAttempts): string {
  const jobs = Object.entries(byJob).map(([job, of]) => `${job.split("/")[1]} ${of}`);
  return `${count} running ${count === 1 ? "attempt" : "attempts"} (${jobs.join(", ")})`;
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`;
}
