/**
 * Which faults to inject, decided beforehand from a seed: the same seed gives
 * the same steps. When each one strikes depends on the cluster, which is asked
 * to be in the phase the step aims at; where it really was is counted.
 *
 * A cluster is attacked in three lanes at once: its schedulers, its executors,
 * and what surrounds them.
 */
import { SeededRandom } from "../chaos/seeded-random.ts";

export const lanes = ["schedulers", "executors", "surroundings"] as const;
export type Lane = (typeof lanes)[number];

/** Where a fault can strike; every one must be struck at least once in a run that passes. */
export const phases = [
  "leader-idle",
  "leader-planning",
  "leader-opening",
  "standby",
  "executor-idle",
  "executor-running",
  "executor-acted",
  "reclaim",
  "store-down",
  "store-busy",
] as const;
/** Besides, unplanned but possible: an executor that was opening, a store without attempts, no leader at all. */
export type Phase = (typeof phases)[number] | "executor-opening" | "store-idle" | "leaderless";

export const faultKinds = [
  /** SIGKILL. An executor's supervisor then ends its children. */
  "kill",
  /** SIGKILL to an executor and its supervisor at once; the last watch ends the children. */
  "kill-with-supervisor",
  "kill-supervisor",
  /** SIGSTOP, later SIGCONT. */
  "freeze",
  /** SIGSTOP to an executor, its supervisor and its children, as when a host stands still. */
  "freeze-host",
  "freeze-supervisor",
  /** PostgreSQL ends at once, without a checkpoint, and recovers from its log. */
  "store-stop",
  "store-restart",
  /** Nothing passes between one process and PostgreSQL, and nobody is told. */
  "network-pause",
] as const;
export type FaultKind = (typeof faultKinds)[number];

export interface FaultStep {
  readonly lane: Lane;
  readonly number: number;
  /** Wait before looking for the moment. */
  readonly pauseMs: number;
  readonly kind: FaultKind;
  readonly role: "leader" | "standby" | "executor" | "store";
  /** Which executor; another one if it is under a fault already. */
  readonly nth: number;
  readonly aim: Phase;
  /** How long it stays: frozen, paused, down, or dead until it is started again. */
  readonly lastsMs: number;
  /** Kill this, too, while the store is down. */
  readonly whileDown: "scheduler" | "executor" | undefined;
}

type Choice = readonly [weight: number, kind: FaultKind, role: FaultStep["role"], aim: Phase];

const choices: Record<Lane, readonly Choice[]> = {
  schedulers: [
    [32, "kill", "leader", "leader-idle"],
    [12, "kill", "leader", "leader-planning"],
    [12, "kill", "leader", "leader-opening"],
    [32, "kill", "standby", "standby"],
    [8, "freeze", "leader", "leader-idle"],
    [4, "freeze", "standby", "standby"],
  ],
  executors: [
    [16, "kill", "executor", "executor-idle"],
    [28, "kill", "executor", "executor-running"],
    [20, "kill", "executor", "executor-acted"],
    [12, "kill", "executor", "reclaim"],
    [8, "kill-with-supervisor", "executor", "executor-running"],
    [6, "kill-supervisor", "executor", "executor-running"],
    [6, "freeze", "executor", "executor-running"],
    [6, "freeze-host", "executor", "executor-running"],
    [3, "freeze-supervisor", "executor", "executor-running"],
  ],
  surroundings: [
    [35, "store-stop", "store", "store-busy"],
    [15, "store-restart", "store", "store-busy"],
    [15, "network-pause", "leader", "leader-idle"],
    [10, "network-pause", "standby", "standby"],
    [25, "network-pause", "executor", "executor-running"],
  ],
};

/** The phases that a lane's steps aim at. */
export function aimsOf(lane: Lane): Phase[] {
  return choices[lane].map(([, , , aim]) => aim);
}

/** Average pause of a lane between two steps, before {@link planLane}'s `haste`. */
const paceMs: Record<Lane, number> = { schedulers: 600, executors: 400, surroundings: 9_000 };

/**
 * The endless list of steps of one lane of one cluster.
 * @param haste 1 is the normal pace, 2 twice as fast
 */
export function* planLane(seed: number, cluster: number, lane: Lane, haste = 1): Generator<FaultStep, never> {
  const random = new SeededRandom(seed + 7_919 * cluster + 104_729 * lanes.indexOf(lane));
  for (let number = 1; ; number++) {
    const [, kind, role, aim] = weighted(random, choices[lane]);
    const pauseMs = Math.round((random.between(20, 200) / 110) * (paceMs[lane] / haste));
    const nth = random.between(0, 2);
    const lastsMs = duration(random, kind, role);
    const whileDown =
      kind === "store-stop" ? random.pick(["scheduler", "executor", undefined] as const) : undefined;
    yield { lane, number, pauseMs, kind, role, nth, aim, lastsMs, whileDown };
  }
}

function weighted(random: SeededRandom, list: readonly Choice[]): Choice {
  let left = random.fraction() * list.reduce((sum, [weight]) => sum + weight, 0);
  for (const choice of list) {
    left -= choice[0];
    if (left < 0) return choice;
  }
  return list.at(-1)!;
}

function duration(random: SeededRandom, kind: FaultKind, role: FaultStep["role"]): number {
  switch (kind) {
    // An executor may be declared dead meanwhile, and must then find its late writes refused.
    case "freeze":
    case "network-pause":
      return role === "executor" ? random.between(1_000, 9_000) : random.between(1_000, 4_000);
    case "freeze-supervisor":
      return random.between(2_000, 5_000);
    // At least; see the injector.
    case "freeze-host":
      return random.between(1_000, 6_000);
    case "store-stop":
    case "store-restart":
      return random.between(100, 1_500);
    default:
      // Mostly restarted at once, now and then only when its shards are long gone.
      return random.chance(0.85) ? random.between(0, 400) : random.between(2_000, 5_000);
  }
}
