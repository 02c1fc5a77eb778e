/** Where a run leaves its report and its history, and how they are written. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { makeFolder } from "../../base/make-folder.ts";
import type { DrillResult } from "../../chaos/drill/drill-report.ts";
import { stateFolder } from "../state-folder.ts";

/** Beside the inventory, a folder a run. */
export function runFolder(inventory: string, wanted: string | undefined, runId: string): string {
  return join(wanted ?? join(stateFolder(inventory), "drills"), runId);
}

/** @returns the files, the report first */
export async function writeRunFiles(folder: string, { report, history }: DrillResult): Promise<string[]> {
  const { drillTimeline } = await import("../../report/drill/timeline.ts");
  makeFolder(folder);
  const json = (value: unknown) => `${JSON.stringify(value, null, 2)}\n`;
  const files: [name: string, text: string][] = [
    ["report.json", json({ schemaVersion: 1, ...report })],
    ...(history ? [["history.json", json(history)] as [string, string]] : []),
    ["timeline.svg", drillTimeline(report, history)],
  ];
  for (const [name, text] of files) await writeFile(join(folder, name), text);
  return files.map(([name]) => join(folder, name));
}
