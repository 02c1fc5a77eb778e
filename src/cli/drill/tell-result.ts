/** What a run has come to: its files, and the verdict, which is told even where they cannot be written. */
import type { DrillResult } from "../../chaos/drill/drill-report.ts";
import { paint, print, printJsonLine } from "../terminal.ts";
import { writeRunFiles } from "./run-files.ts";

/** @throws E_DRILL_UNWRITTEN after the verdict was told */
export async function tellResult(
  result: DrillResult,
  folder: string,
  { json }: { readonly json?: boolean | undefined },
): Promise<void> {
  let files: readonly string[] = [];
  let trouble: { readonly error: unknown } | undefined;
  try {
    files = await writeRunFiles(folder, result);
  } catch (error) {
    trouble = { error };
  }
  const { drill, variant, verdict, reason } = result.report;
  if (json) printJsonLine({ event: "verdict", ...result.report, files });
  else {
    const colour = { pass: paint.green, fail: paint.red, unknown: paint.yellow }[verdict];
    print(`${colour(verdict)}  ${drill}/${variant}: ${reason}`);
    for (const file of files) print(`  ${file}`);
  }
  if (trouble) throw trouble.error;
}
