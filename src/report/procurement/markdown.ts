/** The procurement sheet as Markdown, for a pull request. */
import { counted, decimalBytes } from "../../capacity/format.ts";
import type { Sheet } from "../../capacity/procurement/sheet.ts";
import { markdownTable, markdownText } from "../markdown.ts";
import { figureLines } from "./role-page.ts";
import {
  alternativesTable,
  billTable,
  figuresTable,
  partsTable,
  requirementsTable,
  rolesTable,
  type TextTable,
} from "./text-rows.ts";

export function procurementMarkdown(sheet: Sheet): string {
  const { workload, catalogue, storage } = sheet;
  const { currency } = catalogue;
  const parts: string[] = [
    "# What to order",
    markdownText(
      `For workload ${workload.name} (${workload.origin}), from catalogue ${catalogue.name}, ${sheet.date}.`,
    ),
    tableOf(rolesTable(sheet)),
    listOf(sheet.notes),
    ...sheet.pages.flatMap((page) => [
      `## ${markdownText(page.title)}`,
      markdownText(page.purpose),
      `**${counted(page.machines.value, "machine")}**: ${markdownText(page.machines.formula)}. Decided by ${markdownText(page.binding.constraint)}: ${markdownText(page.binding.why)}.`,
      listOf(figureLines(page)),
      tableOf(partsTable(page, currency)),
      tableOf(requirementsTable(page)),
      page.alternatives.length > 0 ? tableOf(alternativesTable(page, currency)) : "",
    ]),
    "## Bill of materials",
    tableOf(billTable(sheet)),
    "## Where the figures come from",
    `Disk to order for the record store: ${decimalBytes(storage.figures.needed!.value)}.`,
    tableOf(figuresTable(storage.figures)),
    listOf(storage.differences),
  ];
  return `${parts.filter((part) => part !== "").join("\n\n")}\n`;
}

function tableOf({ header, rows, numeric }: TextTable): string {
  return markdownTable(header, rows, numeric);
}

function listOf(items: readonly string[]): string {
  return items.map((item) => `- ${markdownText(item)}`).join("\n");
}
