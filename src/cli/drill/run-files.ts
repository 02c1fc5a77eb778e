/** Where a run leaves its report and its history, and how they are written. */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { DrillResult } from "../../chaos/drill/drill-report.ts";
import { stateFolder } from "../state-folder.ts";

/** Beside the inventory, a folder a run. */
export function runFolder(inventory: string, wanted: string | undefined, runId: string): string {
  return join(wanted ?? join(stateFolder(inventory), "drills"), runId);
}

/** @returns the files, the report first */
export async function writeRunFiles(folder: string, { report, history }: DrillResult): Promise<string[]> {
  await mkdir(folder, { recursive: true });
  const files: [name: string, value: unknown][] = [["report.json", { schemaVersion: 1, ...report }]];
  if (history) files.push(["history.json", history]);
  for (const [name, value] of files)
    await writeFile(join(folder, name), `${JSON.stringify(value, null, 2)}\n`);
  return files.map(([name]) => join(folder, name));
}
