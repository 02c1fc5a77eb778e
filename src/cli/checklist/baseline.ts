/** What a run is held against: a report that was named, else the last run in the records. */
import { messageOf } from "../../base/errors.ts";
import { formatInstant } from "../../base/instant.ts";
import type { StoreProbe } from "../../checklist/context.ts";
import { readReport } from "../../checklist/read-report.ts";
import type { ChecklistReport } from "../../checklist/report-schema.ts";
import { type RunSummary, summaryOf } from "../../checklist/trend.ts";
import { latestChecklistRun, recordChecklistRun } from "../../store/checklist/run.ts";
import { say } from "../terminal.ts";

/** The default of --window. */
export const usualWindowMs = 400 * 86_400_000;

/** @throws E_REPORT_INVALID, E_FILE_UNREADABLE for a file that was named; the records are asked only if they answer */
export async function findBaseline(
  file: string | undefined,
  store: StoreProbe,
  signal: AbortSignal,
): Promise<{ readonly summary: RunSummary; readonly from: string } | undefined> {
  if (file !== undefined) {
    const { report } = await readReport(file);
    const { at, commit, items } = report;
    return { summary: { at, commit: commit.id, items: summaryOf(items, new Date(at)) }, from: file };
  }
  if (store.state !== "open" || signal.aborted) return undefined;
  try {
    const run = await Promise.race([stopped(signal), latestChecklistRun(store.db)]);
    if (!run) return undefined;
    const { at, commitId, items } = run;
    return { summary: { at: formatInstant(at), commit: commitId, items }, from: "the last recorded run" };
  } catch (error) {
    say(`no trend: ${messageOf(error)}`);
    return undefined;
  }
}

/** Who stops a run does not wait for a table that somebody has locked. */
function stopped(signal: AbortSignal): Promise<null> {
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(null), { once: true }));
}

/**
 * Only whole runs of the usual window: one that was narrowed would make the next
 * trend say "new" of everything else, and one that looked less far back "worse".
 */
export async function recordRun(report: ChecklistReport, store: StoreProbe): Promise<void> {
  const { asked, window } = report;
  if (store.state !== "open" || asked.items !== null || asked.job !== null) return;
  const windowMs = new Date(window.to).getTime() - new Date(window.from).getTime();
  if (windowMs !== usualWindowMs)
    return say("the run is not recorded: with another --window it is no measure for later ones");
  try {
    await recordChecklistRun(store.db, {
      runId: report.runId,
      person: report.person,
      version: report.tool.version,
      commitId: report.commit.id,
      definitionsDigest: report.definitions.digest,
      outcome: report.outcome,
      items: summaryOf(report.items, new Date(report.at)),
    });
  } catch (error) {
    // A login that may only read still gets its report.
    say(`the run is not recorded: ${messageOf(error)}`);
  }
}
