/** A report of the checklist as Markdown, for the summary of a step in a pipeline. */
import { allItems } from "../../checklist/judge.ts";
import type { ChecklistReport } from "../../checklist/report-schema.ts";
import { markdownTable, markdownText } from "../markdown.ts";
import { printable } from "../xml.ts";
import { oneLine } from "./visible.ts";
import { answersOf, itemName, scopeName, sentence, tally, verdictWord, worstItemsFirst } from "./wording.ts";

/** A summary above 1 MiB is dropped whole by GitHub; some room is left for what else the step writes. */
export const mostBytes = 1_048_576 - 65_536;

const mostReasons = 50;
const signs = { pass: "✅", fail: "❌", unknown: "❔", waived: "⏸️", "not-applicable": "➖" } as const;

export function checklistMarkdown(report: ChecklistReport): string {
  const head = [
    `## Checklist: ${report.outcome}`,
    "",
    scoreLine(report),
    "",
    itemTable(report),
    "",
    ...section(
      "Why it is not a pass",
      report.outcome === "pass" ? [] : report.reasons.slice(0, mostReasons).map(bullet),
    ),
    ...section("Since the last run", trendLines(report)),
  ];
  return withinLimit(head, openAnswers(report), [
    "",
    `Cluster ${markdownText(report.cluster.name)} (${report.cluster.id ?? "id unknown"}), commit ${report.commit.id ?? "unknown"}, definitions \`${report.definitions.digest.slice(0, 12)}\`, ${report.at}, escapement ${markdownText(report.tool.version)}`,
    "",
  ]);
}

function scoreLine(report: ChecklistReport): string {
  const counts = tally(report);
  const parts = [`**${counts.pass} of ${allItems.length} pass**`];
  for (const verdict of ["fail", "unknown", "waived", "not-applicable"] as const)
    if (counts[verdict] > 0) parts.push(`${counts[verdict]} ${verdictWord[verdict]}`);
  if (report.items.length < allItems.length) parts.push(`${allItems.length - report.items.length} not asked`);
  if (report.waiverProblems.length > 0) parts.push(`${report.waiverProblems.length} waiver(s) in error`);
  if (report.definitionProblems.length > 0)
    parts.push(`${report.definitionProblems.length} problem(s) in job files`);
  return parts.join(", ");
}

function itemTable(report: ChecklistReport): string {
  return markdownTable(
    ["", "item", "verdict", "worst answer"],
    worstItemsFirst(report).map((item) => {
      const [worst] = answersOf(item, report);
      const more = item.results.length > 1 ? ` (${item.results.length} answers)` : "";
      return [
        signs[item.verdict],
        itemName(item),
        verdictWord[item.verdict],
        worst ? `${scopeName(worst.result)}: ${short(sentence(worst))}${more}` : "",
      ];
    }),
  );
}

/** One line each, the worst item first. */
function openAnswers(report: ChecklistReport): readonly string[] {
  const lines = worstItemsFirst(report).flatMap((item) =>
    answersOf(item, report)
      .filter(({ counts }) => counts === "fail" || counts === "unknown" || counts === "waived")
      .map((answer) => {
        const { result, counts } = answer;
        const todo = result.todo === undefined ? "" : ` **To do:** ${markdownText(oneLine(result.todo))}`;
        const place = `${result.location.file}:${result.location.line}`;
        return `- ${signs[counts]} **${markdownText(itemName(item))}**, ${markdownText(scopeName(result))}: ${markdownText(sentence(answer))}${todo} (${markdownText(place)})`;
      }),
  );
  return lines;
}

function trendLines({ trend }: ChecklistReport): string[] {
  if (!trend) return [];
  const items = trend.changes.filter(({ scope, change }) => scope === null && change !== "new");
  return [
    `- against ${markdownText(trend.against.from)} of ${trend.against.at}: ${trend.better} better, ${trend.worse} worse, ${trend.new} new`,
    ...items.map(
      ({ item, before, now, change }) => `- item ${item}: ${change} (${before ?? "not there"} → ${now})`,
    ),
  ];
}

function section(title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : [`### ${title}`, "", ...lines, ""];
}

/** Lines are left out from the end, and counted. */
function withinLimit(head: readonly string[], lines: readonly string[], foot: readonly string[]): string {
  const size = (text: string) => Buffer.byteLength(text) + 1;
  const title = ["### Open answers", ""];
  let bytes = [...head, ...title, ...foot].reduce((sum, line) => sum + size(line), 0) + 200;
  const shown: string[] = [];
  for (const line of lines) {
    bytes += size(line);
    if (bytes > mostBytes) break;
    shown.push(line);
  }
  const left = lines.length - shown.length;
  const note = left > 0 ? ["", `${left} more open answer(s) are in the full report.`] : [];
  const answers = lines.length > 0 ? [...title, ...shown, ...note] : [];
  return printable([...head, ...answers, ...foot].join("\n"));
}

function bullet(text: string): string {
  return `- ${markdownText(short(oneLine(text)))}`;
}

function short(text: string): string {
  return text.length > 400 ? `${text.slice(0, 399)}…` : text;
}
