/** Reads a watch file with everything that this folder knows: schedules, rules, and what the rules judge by. */
import { isEscapementError } from "../base/errors.ts";
import { compileSchedule } from "../schedule/compile.ts";
import { fits } from "../spec/alert-match.ts";
import { loadWatch } from "../spec/resolve-watch.ts";
import type { WatchDefinition } from "../spec/watch-definition.ts";
import { deliveryRules } from "./delivery-observations.ts";
import { ruleNames } from "./finding.ts";
import { defaultWatchSettings, type WatchSettings } from "./settings.ts";

/** Never throws for what is in the file: the problems name file, line and column. */
export function readWatchFile(file: string): ReturnType<typeof loadWatch> {
  return loadWatch(file, { schedule, ruleNames: [...ruleNames, ...deliveryRules] });
}

function schedule(cron: string, zone: string): string | null {
  try {
    compileSchedule({ cron, zone });
    return null;
  } catch (error) {
    if (!isEscapementError(error)) throw error;
    return error.message;
  }
}

/** What the rules judge by, as the file says it. @param nodes names of the cluster file */
export function watchSettings(
  watch: WatchDefinition,
  nodes: { readonly schedulers: readonly string[]; readonly executors: readonly string[] },
): WatchSettings {
  const { thresholds: t, jobs } = watch;
  const found = new Map<string, ReturnType<WatchSettings["limitsOf"]>>();
  return {
    successPeriods: t.successPeriods,
    openWithinMs: t.openWithin,
    leaderAbsentMs: t.leaderAbsent,
    lateStartMs: t.lateStart,
    atRiskAheadMs: t.atRiskAhead,
    fastShare: t.fastShare,
    fewRowsShare: t.fewRowsShare,
    nearPeriodShare: t.nearPeriodShare,
    leaseOverdueMs: t.leaseOverdue,
    reclaims: t.reclaims,
    silentMs: t.silent,
    failedForMs: t.failedFor,
    editedForMs: t.editedFor,
    clockWarnMs: t.clockWarn,
    clockCriticalMs: t.clockCritical,
    clockRefuseMs: t.clockRefuse,
    backlogForMs: t.backlogFor,
    backlogPerSlot: t.backlogPerSlot,
    replicaLagMs: t.replicaLag,
    replicaLagBytes: t.replicaLagSize,
    xminAgeMs: t.xminAge,
    storeFullBytes: t.storeFull ?? null,
    storeDiskWarnShare: t.storeDiskWarn,
    storeDiskCriticalShare: t.storeDiskCritical,
    storeDiskStaleMs: t.storeDiskStale,
    virtualAddressFreshMs: defaultWatchSettings.virtualAddressFreshMs,
    virtualAddressAbsentMs: t.virtualAddressAbsent,
    timeSources: t.timeSources,
    schedulerNodes: nodes.schedulers,
    executorNodes: nodes.executors,
    limitsOf: (job) => {
      let limits = found.get(job);
      if (!limits) {
        const fit = jobs.find((one) =>
          fits({ job: [one.job] }, { job, key: "", rule: "", severity: "info" }),
        );
        limits = fit ?? defaultWatchSettings.limitsOf(job);
        found.set(job, limits);
      }
      return limits;
    },
  };
}
