/** One run of a drill as the records keep it. */
import { EscapementError } from "../../base/errors.ts";
import { formatInstant } from "../../base/instant.ts";
import type { Queryable } from "../../store/database.ts";
import type { DrillRunRow } from "../../store/drill/drill-run.ts";
import { paint, print, printJson } from "../terminal.ts";

/** @param id of a run, or the beginning of one @throws E_BAD_VALUE */
export async function requireRun(db: Queryable, id: string): Promise<DrillRunRow> {
  const { findDrillRun } = await import("../../store/drill/drill-run.ts");
  const run = await findDrillRun(db, id.toLowerCase());
  if (run) return run;
  throw new EscapementError("E_BAD_VALUE", {
    option: "RUN",
    value: id,
    expected: "a run, or the beginning of one only",
    hint: "escapement drill history lists the runs",
  });
}

export function showRun(run: DrillRunRow, json: boolean): void {
  if (json) {
    printJson({ run });
    return;
  }
  const line = (name: string, text: string | null | undefined) => {
    if (text) print(`${paint.dim(name.padEnd(9))} ${text}`);
  };
  const at = (instant: Date | null) => instant && formatInstant(instant);
  print(`${paint.bold(run.drill)}  ${run.outcome ?? run.state}${run.reason ? `: ${run.reason}` : ""}`);
  line("run", run.runId);
  line("class", run.class);
  line("host", run.targets.map(({ host, part }) => `${host} (${part})`).join(", "));
  line(
    "by",
    `${run.person}${run.trigger === "schedule" ? ", on the timetable" : ""}, version ${run.version}`,
  );
  line("started", at(run.startedAt));
  line("fault", at(run.faultAt));
  line("restored", at(run.restoredAt));
  line("ended", at(run.endedAt));
  line("aborted", run.abortRequestedAt && `${at(run.abortRequestedAt)}: ${run.abortReason ?? ""}`);
  // Written by the version that ran it: shown as it is, whatever it holds.
  for (const [name, value] of Object.entries(run.summary ?? {}))
    if (value !== null && JSON.stringify(value) !== "[]") line(name, JSON.stringify(value));
}
