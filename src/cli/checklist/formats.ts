/** The formats of a report, and where each goes. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { EscapementError, messageOf } from "../../base/errors.ts";
import { makeFolder } from "../../base/make-folder.ts";
import type { ChecklistReport } from "../../checklist/report-schema.ts";
import { checklistHtml } from "../../report/checklist/html.ts";
import { checklistJunit } from "../../report/checklist/junit.ts";
import { checklistMarkdown } from "../../report/checklist/markdown.ts";
import { checklistSarif } from "../../report/checklist/sarif.ts";
import { say } from "../terminal.ts";
import { checklistText } from "./text.ts";

export const formatNames = ["text", "json", "junit", "sarif", "md", "html"] as const;
export type Format = (typeof formatNames)[number];

/** File names in the folder of `-o`. */
export const formatFiles: Readonly<Record<Format, string>> = {
  text: "report.txt",
  json: "report.json",
  junit: "junit.xml",
  sarif: "report.sarif",
  md: "summary.md",
  html: "report.html",
};

export function render(report: ChecklistReport, format: Format, verbose: boolean): string {
  switch (format) {
    case "text":
      return checklistText(report, verbose);
    case "json":
      return `${JSON.stringify(report, null, 2)}\n`;
    case "junit":
      return checklistJunit(report);
    case "sarif":
      return checklistSarif(report);
    case "md":
      return checklistMarkdown(report);
    case "html":
      return checklistHtml(report);
  }
}

/** @throws E_UNAVAILABLE when the folder cannot be written: a report that is not there must not look like one */
export async function writeFormats(
  report: ChecklistReport,
  formats: readonly Format[],
  folder: string,
): Promise<void> {
  try {
    makeFolder(folder);
    for (const format of formats) {
      const file = join(folder, formatFiles[format]);
      await writeFile(file, withoutColours(render(report, format, true)));
      say(`wrote ${file}`);
    }
  } catch (error) {
    throw new EscapementError(
      "E_UNAVAILABLE",
      {
        what: `cannot write to ${folder}: ${messageOf(error)}`,
        hint: "check the folder and its permissions",
      },
      { cause: error },
    );
  }
}

function withoutColours(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: colour codes start with ESC
  return text.replace(/\x1b\[[0-9;]*m/g, "");
}
