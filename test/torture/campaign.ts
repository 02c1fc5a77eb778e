/** One torture run: several clusters side by side, faults until the target is reached, then the verdict. */
import { setMaxListeners } from "node:events";
import { monotonicMs, sleep } from "../../src/base/monotonic.ts";
import { type Verdict, worstOutcome } from "../../src/chaos/checker.ts";
import { faultKinds, type Phase, phases } from "./fault-plan.ts";
import type { InjectedFault } from "./injector.ts";
import { type ClusterResult, TortureCluster } from "./torture-cluster.ts";

export interface CampaignOptions {
  readonly seed: number;
  readonly clusters: number;
  /** Kills to reach, over all clusters; see {@link isKill}. */
  readonly kills: number;
  /** The faults end after this long, reached or not. */
  readonly minutes: number;
  readonly haste?: number;
  /** Only steps that aim at this phase; for looking into one kind of fault. */
  readonly only?: Phase | undefined;
  /** Told now and then how far it is. */
  readonly onProgress?: (line: string) => void;
  /** Histories are written here as JSON, one a cluster. */
  readonly keepHistories?: string | undefined;
}

export interface CampaignResult {
  readonly outcome: Verdict["outcome"];
  readonly seed: number;
  readonly clusters: readonly ClusterResult[];
  readonly kills: number;
  readonly killsWanted: number;
  readonly faultSeconds: number;
  readonly unknown: readonly string[];
}

/** SIGKILL, SIGSTOP, and a stop of PostgreSQL count; a paused network does not. */
export function isKill(fault: InjectedFault): boolean {
  return fault.proven && fault.kind !== "network-pause";
}

export async function runCampaign(options: CampaignOptions): Promise<CampaignResult> {
  const { seed, clusters: count, kills: killsWanted, minutes } = options;
  const started: TortureCluster[] = [];
  try {
    for (let i = 0; i < count; i++) started.push(await TortureCluster.start(seed, i, options.haste ?? 1));
    const stop = new AbortController();
    setMaxListeners(0, stop.signal); // every lane of every cluster waits on it
    const begun = monotonicMs();
    const lanesRunning = started.map((one) => one.attack(stop.signal, options.only));
    const killed = () => started.reduce((sum, one) => sum + one.injector.faults.filter(isKill).length, 0);
    const complete = () => missingIn(started.flatMap((one) => one.injector.faults)).length === 0;
    let toldMs = begun;
    while (monotonicMs() - begun < minutes * 60_000) {
      await sleep(250);
      if (killed() >= killsWanted && complete()) break;
      if (monotonicMs() - toldMs < 10_000) continue;
      toldMs = monotonicMs();
      options.onProgress?.(`${Math.round((toldMs - begun) / 1_000)} s: ${killed()} of ${killsWanted} kills`);
    }
    stop.abort();
    await Promise.all(lanesRunning);
    const faultSeconds = (monotonicMs() - begun) / 1_000;
    options.onProgress?.(`faults end after ${Math.round(faultSeconds)} s with ${killed()} kills; settling`);
    const clusters = await Promise.all(
      started.map((one) => one.conclude(options.keepHistories, options.onProgress ?? (() => {}))),
    );
    return conclude(options, clusters, faultSeconds);
  } finally {
    await Promise.all(started.map((one) => one.down()));
  }
}

function conclude(
  { seed, kills: killsWanted }: CampaignOptions,
  clusters: ClusterResult[],
  faultSeconds: number,
): CampaignResult {
  const faults = clusters.flatMap((one) => one.faults);
  const kills = faults.filter(isKill).length;
  const unknown = clusters.flatMap((one) => [...one.verdict.unknown, ...one.troubles]);
  if (kills < killsWanted) unknown.push(`${kills} kills; ${killsWanted} were wanted`);
  if (clusters.every((one) => one.verdict.figures.staleRefused === 0))
    unknown.push("no write of a frozen attempt came late and was refused");
  unknown.push(...missingIn(faults));
  const worst = worstOutcome(clusters.map((one) => one.verdict.outcome));
  const outcome = worst === "pass" && unknown.length > 0 ? "unknown" : worst;
  return { outcome, seed, clusters, kills, killsWanted, faultSeconds, unknown };
}

/** Phases and kinds of fault that have not been struck yet. */
function missingIn(faults: readonly InjectedFault[]): string[] {
  const proven = faults.filter((fault) => fault.proven);
  return [
    ...phases
      .filter((phase) => !proven.some((fault) => fault.phase === phase))
      .map((phase) => `nothing was struck in phase ${phase}`),
    ...faultKinds
      .filter((kind) => !proven.some((fault) => fault.kind === kind))
      .map((kind) => `no proven fault of kind ${kind}`),
  ];
}
