/** Where a run leaves its report and its history, and how they are written. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { EscapementError, messageOf } from "../../base/errors.ts";
import { makeFolder } from "../../base/make-folder.ts";
import type { DrillResult } from "../../chaos/drill/drill-report.ts";
import { stateFolder } from "../state-folder.ts";

/** Beside the inventory; in it a folder a run. */
function runsFolder(inventory: string, wanted: string | undefined): string {
  return wanted ?? join(stateFolder(inventory), "drills");
}

export function runFolder(inventory: string, wanted: string | undefined, runId: string): string {
  return join(runsFolder(inventory, wanted), runId);
}

/**
 * Writes there for a moment: a drill whose report has no place is not begun.
 * @throws E_BAD_DATA
 */
export async function requireRunsFolder(inventory: string, wanted: string | undefined): Promise<void> {
  const folder = runsFolder(inventory, wanted);
  try {
    makeFolder(folder);
    const trial = await mkdtemp(join(folder, ".trial-"));
    try {
      await writeFile(join(trial, "report.json"), "{}\n");
    } finally {
      await rm(trial, { recursive: true, force: true });
    }
  } catch (error) {
    const what = `report and history of a run cannot be written to ${folder}: ${messageOf(error)}`;
    const hint = "nothing was begun; --out FOLDER names a folder that can be written";
    throw new EscapementError("E_BAD_DATA", { what, hint }, { cause: error });
  }
}

/** @returns the files, the report first. @throws E_DRILL_UNWRITTEN */
export async function writeRunFiles(folder: string, { report, history }: DrillResult): Promise<string[]> {
  const { drillTimeline } = await import("../../report/drill/timeline.ts");
  const json = (value: unknown) => `${JSON.stringify(value, null, 2)}\n`;
  const files: [name: string, text: string][] = [
    ["report.json", json({ schemaVersion: 1, ...report })],
    ...(history ? [["history.json", json(history)] as [string, string]] : []),
    ["timeline.svg", drillTimeline(report, history)],
  ];
  try {
    makeFolder(folder);
    for (const [name, text] of files) await writeFile(join(folder, name), text);
  } catch (error) {
    const params = { folder, reason: messageOf(error), run: report.runId };
    throw new EscapementError("E_DRILL_UNWRITTEN", params, { cause: error });
  }
  return files.map(([name]) => join(folder, name));
}
