/** `escapement capacity accept`: does the delivered machine have what was ordered? */
import type { Command } from "commander";
import { ExitCode } from "../../base/exit-code.ts";
import type { AcceptanceResult } from "../../capacity/acceptance/accept-machine.ts";
import type { Verdict } from "../../capacity/acceptance/verdict.ts";
import type { SheetRequirement } from "../../capacity/procurement/page.ts";
import { defineCommand } from "../command.ts";
import { paint, print, printJson, table } from "../terminal.ts";

interface AcceptOptions {
  readonly sheet?: string;
  readonly role: string;
  readonly workload?: string;
  readonly catalogue?: string;
  readonly layout?: string;
  readonly folder: string;
  readonly json?: boolean;
}

export function buildAccept(): Command {
  return defineCommand("accept", "test this machine against the procurement sheet", {
    examples: [
      "escapement capacity accept --sheet order.json --role record-store --folder /var/lib/postgresql",
      "escapement capacity accept --role executor-cpu --workload workload.yaml --json",
    ],
    exitCodes: [ExitCode.ok, ExitCode.failed, ExitCode.unknown, ExitCode.badData],
    notes:
      "Run it as root on the delivered machine. A test that could not look is unknown: it ends with 5, never with 0.\nNothing is changed; flushes and writes are measured in a temporary folder below --folder.",
  })
    .option("--sheet <file>", "sheet written by escapement capacity sheet -o FILE.json")
    .requiredOption("--role <name>", "role of this machine in the sheet, for example executor-cpu")
    .option("--workload <file>", "without --sheet: workload file")
    .option("--catalogue <file>", "without --sheet: catalogue file")
    .option("--layout <file>", "without --sheet: roles and requirements")
    .option("--folder <folder>", "folder whose disk is tested", "/var/tmp")
    .option("--json", "print one JSON document")
    .action(async (options: AcceptOptions) => {
      const requirements = await requirementsOf(options);
      const { testMachine } = await import("./acceptance/test-machine.ts");
      const results = await testMachine(requirements, options.folder);
      const count = (status: Verdict["status"]) => results.filter((one) => one.status === status).length;
      const counts = { pass: count("pass"), fail: count("fail"), unknown: count("unknown") };
      if (options.json) printJson({ role: options.role, counts, results });
      else printResults(results, counts);
      if (counts.fail > 0) process.exitCode = ExitCode.failed;
      else if (counts.unknown > 0) process.exitCode = ExitCode.unknown;
    });
}

async function requirementsOf(options: AcceptOptions): Promise<readonly SheetRequirement[]> {
  const { readSheetFile, requirementsOfRole } = await import("./acceptance/sheet-file.ts");
  const pages =
    options.sheet === undefined
      ? (await (await import("./sheet.ts")).readSheet(options)).pages
      : await readSheetFile(options.sheet);
  return requirementsOfRole(pages, options.role);
}

export const resultColours = { pass: paint.green, fail: paint.red, unknown: paint.yellow } as const;

function printResults(results: readonly AcceptanceResult[], counts: Record<Verdict["status"], number>): void {
  print(
    table(
      ["result", "requirement", "seen"],
      results.map((one) => [resultColours[one.status](one.status), one.requirement, one.observed]),
    ),
  );
  print();
  print(`${counts.pass} passed, ${counts.fail} failed, ${counts.unknown} unknown`);
}
