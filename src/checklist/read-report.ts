/** Reads a stored report: the one edge at which it is parsed. */
import { readFile } from "node:fs/promises";
import { EscapementError, messageOf } from "../base/errors.ts";
import { type ChecklistReport, reportSchema } from "./report-schema.ts";

export interface StoredReport {
  readonly report: ChecklistReport;
  /** As it was parsed: what a signature is about. */
  readonly raw: Record<string, unknown>;
}

/** @throws E_REPORT_INVALID, E_FILE_UNREADABLE */
export async function readReport(file: string): Promise<StoredReport> {
  let text: string;
  try {
    text = await readFile(file, "utf8");
  } catch (error) {
    throw new EscapementError("E_FILE_UNREADABLE", { file, reason: messageOf(error) }, { cause: error });
  }
  return parseReport(text, file);
}

/** @throws E_REPORT_INVALID */
export function parseReport(text: string, file: string): StoredReport {
  const invalid = (reason: string) => new EscapementError("E_REPORT_INVALID", { file, reason });
  let raw: unknown;
  try {
    raw = JSON.parse(text);
  } catch (error) {
    throw invalid(messageOf(error));
  }
  if (isDeeperThan(raw, mostDepth)) throw invalid("the document: is nested deeper than a report can be");
  const parsed = reportSchema.safeParse(raw);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw invalid(`${issue?.path.join(".") || "the document"}: ${issue?.message ?? "is not right"}`);
  }
  return { report: parsed.data, raw: raw as Record<string, unknown> };
}

/** A report is less than ten levels deep; fields of later versions may add some. */
const mostDepth = 64;

/** Without recursion: a document made for that would end the program. */
function isDeeperThan(document: unknown, most: number): boolean {
  let level: unknown[] = [document];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > most) return true;
    level = level.flatMap((value) =>
      typeof value === "object" && value !== null ? Object.values(value) : [],
    );
  }
  return false;
}
