/** `escapement capacity sheet`: the procurement sheet, in the format its file name asks for. */
import { extname } from "node:path";
import type { Command } from "commander";
import { EscapementError } from "../../base/errors.ts";
import { ExitCode } from "../../base/exit-code.ts";
import type { Sheet } from "../../capacity/procurement/sheet.ts";
import { defineCommand } from "../command.ts";
import { paint, print, printJson, say, table } from "../terminal.ts";
import { dateOption } from "./options.ts";
import { saveFile } from "./save-file.ts";

interface SheetOptions {
  readonly output?: string;
  readonly workload?: string;
  readonly catalogue?: string;
  readonly layout?: string;
  readonly date?: string;
  readonly json?: boolean;
}

export function buildSheetCommand(): Command {
  return defineCommand("sheet", "the procurement sheet: machines, bill of materials, acceptance tests", {
    examples: [
      "escapement capacity sheet -o order.xlsx",
      "escapement capacity sheet -o order.html --workload workload.yaml --catalogue catalogue.yaml",
      "escapement capacity sheet --json",
    ],
    exitCodes: [ExitCode.ok, ExitCode.badData, ExitCode.unavailable],
    notes:
      "The name of the file decides the format: .xlsx (with live formulas), .html (with charts), .md, .csv (the bill), or\n.json (which escapement capacity accept reads). Copy capacity/ of the program and put your own figures in.",
  })
    .option("-o, --output <file>", "file to write: .xlsx, .html, .md, .csv or .json")
    .option("--workload <file>", "workload file (default: the reference workload)")
    .option("--catalogue <file>", "catalogue of parts (default: the planning catalogue)")
    .option("--layout <file>", "roles and requirements (default: the standard sheet)")
    .option("--date <date>", "date on the sheet (default: today)")
    .option("--json", "print one JSON document")
    .action(async (options: SheetOptions) => {
      const extension = options.output === undefined ? undefined : formatOf(options.output);
      const sheet = await readSheet(options);
      if (options.output !== undefined && extension !== undefined) {
        await saveFile(options.output, await render(sheet, extension));
        say(`wrote ${options.output}`);
      }
      if (options.json) printJson({ ...sheet });
      else if (options.output === undefined) printSheet(sheet);
    });
}

/** The sheet that the files describe. @throws E_SPEC_INVALID, E_BAD_DATA */
export async function readSheet(
  options: Pick<SheetOptions, "workload" | "catalogue" | "layout" | "date">,
): Promise<Sheet> {
  const { loadCatalogue, loadProcurement, loadWorkload } = await import("./data-files.ts");
  const { buildSheet } = await import("../../capacity/procurement/sheet.ts");
  const [workload, catalogue, procurement] = await Promise.all([
    loadWorkload(options.workload),
    loadCatalogue(options.catalogue),
    loadProcurement(options.layout),
  ]);
  return buildSheet({
    workload,
    catalogue,
    procurement: procurement.spec,
    date:
      options.date === undefined ? new Date().toISOString().slice(0, 10) : dateOption("--date", options.date),
  });
}

const extensions = [".xlsx", ".html", ".md", ".csv", ".json"] as const;
type Extension = (typeof extensions)[number];

function formatOf(file: string): Extension {
  const found = extensions.find((one) => one === extname(file).toLowerCase());
  if (found) return found;
  throw new EscapementError("E_BAD_VALUE", {
    option: "--output",
    value: file,
    expected: `a name that ends in ${extensions.join(", ")}`,
    hint: "the name decides the format",
  });
}

async function render(sheet: Sheet, extension: Extension): Promise<string | Buffer> {
  switch (extension) {
    case ".xlsx": {
      const { procurementWorkbook } = await import("../../report/procurement/workbook.ts");
      const { writeXlsx } = await import("../../report/xlsx.ts");
      return writeXlsx(procurementWorkbook(sheet));
    }
    case ".html":
      return (await import("../../report/procurement/html.ts")).procurementHtml(sheet);
    case ".md":
      return (await import("../../report/procurement/markdown.ts")).procurementMarkdown(sheet);
    case ".csv":
      return (await import("../../report/procurement/csv.ts")).procurementCsv(sheet);
    case ".json":
      return `${JSON.stringify({ schemaVersion: 1, ...sheet }, null, 2)}\n`;
  }
}

function printSheet(sheet: Sheet): void {
  const { currency } = sheet.catalogue;
  const whole = (value: number) => Math.round(value).toLocaleString("en-US");
  print(
    paint.bold(
      `${whole(sheet.totals.price)} ${currency}, ${sheet.totals.machines} machines, ${whole(sheet.totals.watts)} W, ${sheet.totals.rackUnits} U`,
    ),
  );
  print();
  print(
    table(
      ["role", "machines", `price, ${currency}`, "one machine", "decided by"],
      sheet.pages.map(({ title, machines, configuration, binding }) => [
        title,
        String(machines.value),
        whole(machines.value * configuration.price),
        configuration.lines.map(({ part, quantity }) => `${quantity} × ${part.id}`).join(", "),
        `${binding.constraint}: ${binding.why}`,
      ]),
    ),
  );
  print();
  for (const note of sheet.notes) print(`note: ${note}`);
  print("Write it with -o FILE.xlsx, .html, .md, .csv or .json.");
}
