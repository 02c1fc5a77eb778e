/** What a run is held against: a report that was named, else the last run in the records. */
import { messageOf } from "../../base/errors.ts";
import { formatInstant } from "../../base/instant.ts";
import type { StoreProbe } from "../../checklist/context.ts";
import { readReport } from "../../checklist/read-report.ts";
import type { ChecklistReport } from "../../checklist/report-schema.ts";
import { type RunSummary, summaryOf } from "../../checklist/trend.ts";
import { latestChecklistRun, recordChecklistRun } from "../../store/checklist/run.ts";
import { say } from "../terminal.ts";

/** @throws E_REPORT_INVALID, E_FILE_UNREADABLE for a file that was named; the records are asked only if they answer */
export async function findBaseline(
  file: string | undefined,
  store: StoreProbe,
): Promise<{ readonly summary: RunSummary; readonly from: string } | undefined> {
  if (file !== undefined) {
    const { report } = await readReport(file);
    const { at, commit, items } = report;
    return { summary: { at, commit: commit.id, items: summaryOf(items, new Date(at)) }, from: file };
  }
  if (store.state !== "open") return undefined;
  try {
    const run = await latestChecklistRun(store.db);
    if (!run) return undefined;
    const { at, commitId, items } = run;
    return { summary: { at: formatInstant(at), commit: commitId, items }, from: "the last recorded run" };
  } catch (error) {
    say(`no trend: ${messageOf(error)}`);
    return undefined;
  }
}

/** Only whole runs: one that was narrowed would make the next trend say "new" of everything else. */
export async function recordRun(report: ChecklistReport, store: StoreProbe): Promise<void> {
  const { asked } = report;
  if (store.state !== "open" || asked.items !== null || asked.job !== null) return;
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
