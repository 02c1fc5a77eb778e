/** A report of the checklist for a terminal: what needs work first, evidence when asked. */
import { formatDuration } from "../../base/duration.ts";
import type { ChecklistReport } from "../../checklist/report-schema.ts";
import type { ItemVerdict } from "../../checklist/verdict.ts";
import { oneLine } from "../../report/checklist/visible.ts";
import {
  type Answer,
  answersOf,
  evidenceText,
  scopeName,
  sentence,
  tally,
  verdictWord,
  worstItemsFirst,
} from "../../report/checklist/wording.ts";
import { type Cell, paint, table } from "../terminal.ts";

/** Open answers of one item that a table shows; `-v` shows all. */
const mostAnswers = 5;

const colour: Readonly<Record<ItemVerdict, (text: string) => string>> = {
  pass: paint.green,
  fail: paint.red,
  unknown: paint.yellow,
  waived: paint.magenta,
  "not-applicable": paint.dim,
};

/** @param verbose every answer, with its evidence */
export function checklistText(report: ChecklistReport, verbose: boolean): string {
  const rows = worstItemsFirst(report).flatMap((item) => {
    const answers = answersOf(item, report);
    const open = answers.filter(({ counts }) => counts !== "pass" && counts !== "not-applicable");
    const shown = verbose ? answers : open.length > 0 ? open.slice(0, mostAnswers) : answers.slice(0, 1);
    const left = answers.length - shown.length;
    const cells = shown.map((answer, i): Cell[] => [
      colour[answer.counts](verdictWord[answer.counts]),
      i === 0 ? String(item.number) : "",
      i === 0 ? item.id : "",
      line(answer, verbose),
    ]);
    if (open.length > shown.length)
      cells.push(["", "", "", paint.dim(`${open.length - shown.length} more are open: -v shows them`)]);
    else if (open.length === 0 && left > 0)
      cells[0]![3] = `${cells[0]![3]}${paint.dim(` (and ${left} more answer${left === 1 ? "" : "s"})`)}`;
    return cells;
  });
  const parts = rows.length > 0 ? [table(["verdict", "item", "", "answer"], rows)] : [];
  for (const { file, line, column, message } of report.waiverProblems)
    parts.push(`${colour.fail("waiver")}   ${oneLine(`${file}:${line}:${column} ${message}`)}`);
  for (const { file, line, column, message } of report.definitionProblems)
    parts.push(`${colour.fail("file")}     ${oneLine(`${file}:${line}:${column} ${message}`)}`);
  return [...parts, "", closing(report), ""].join("\n");
}

function line(answer: Answer, verbose: boolean): Cell {
  const { result } = answer;
  const todo =
    result.todo !== undefined && answer.counts !== "pass" ? ` ${paint.dim(`→ ${oneLine(result.todo)}`)}` : "";
  const head = `${scopeName(result)}: ${sentence(answer)}${todo}`;
  if (!verbose) return head;
  const evidence = evidenceText(result);
  return evidence === "" ? head : [head, ...evidence.split("\n").map((one) => paint.dim(`    ${one}`))];
}

function closing(report: ChecklistReport): string {
  const counts = tally(report);
  const parts = (["pass", "fail", "unknown", "waived", "not-applicable"] as const)
    .filter((verdict) => counts[verdict] > 0)
    .map((verdict) => `${counts[verdict]} ${verdictWord[verdict]}`);
  const { trend } = report;
  const change = trend
    ? `; since ${trend.against.at}: ${trend.better} better, ${trend.worse} worse, ${trend.new} new`
    : "";
  return `${colour[report.outcome](report.outcome)}: ${parts.join(", ") || "no item has run"}; ${report.definitions.jobs} job(s), ${report.hosts.length} host(s), ${formatDuration(report.durationMs)}${change}`;
}
