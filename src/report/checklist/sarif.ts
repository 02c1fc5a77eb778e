/** A report of the checklist as SARIF: open answers only, each at the place where it is mended. */
import type { ChecklistReport } from "../../checklist/report-schema.ts";
import { type SarifResult, type SarifRule, sarifLog } from "../sarif.ts";
import { oneLine } from "./visible.ts";
import { answersOf, scopeName, sentence, worstItemsFirst } from "./wording.ts";

const levels = { fail: "error", unknown: "warning", waived: "note" } as const;
const waiverRule = "checklist-waivers";
const definitionRule = "checklist-definitions";

export function checklistSarif(report: ChecklistReport): string {
  const log = sarifLog({
    tool: "Escapement checklist",
    version: report.tool.version,
    category: `escapement-checklist/${report.cluster.name || "cluster"}`,
    rules: rules(report),
    results: [...definitionResults(report), ...waiverResults(report), ...answerResults(report)],
  });
  return `${JSON.stringify(log, null, 2)}\n`;
}

function rules(report: ChecklistReport): SarifRule[] {
  const items = report.items.map(({ number, id, question, why, how }) => ({
    id: ruleId(id),
    short: question,
    full: why,
    help: `Item ${number}: ${question}\n\n${why}\n\nHow it is checked: ${how}`,
    tags: ["reliability", "batch"],
  }));
  const waivers = {
    id: waiverRule,
    short: "Does every waiver hold and cover something?",
    full: "A waiver that has expired or fits nothing would wait for the next fault and hide it.",
    help: "Take the waiver out, or let it be accepted anew.",
    tags: ["reliability", "batch"],
  };
  const definitions = {
    id: definitionRule,
    short: "Is every job file right?",
    full: "A file that becomes no job says nothing about what will run.",
    help: "escapement jobs check names every problem and what would be accepted.",
    tags: ["reliability", "batch"],
  };
  return [
    ...items,
    ...(report.waiverProblems.length > 0 ? [waivers] : []),
    ...(report.definitionProblems.length > 0 ? [definitions] : []),
  ];
}

function answerResults(report: ChecklistReport): SarifResult[] {
  return worstItemsFirst(report).flatMap((item) =>
    answersOf(item, report).flatMap((answer): SarifResult[] => {
      const { result, counts } = answer;
      if (counts === "pass" || counts === "not-applicable") return [];
      const todo = result.todo === undefined ? "" : ` To do: ${result.todo}`;
      return [
        {
          rule: ruleId(item.id),
          level: levels[counts],
          message: oneLine(`${scopeName(result)}: ${result.message}.${todo}`.replace("..", ".")),
          ...result.location,
          identity: `${item.id}\n${result.scope.kind}\n${result.scope.name}`,
          ...(counts === "waived" && { accepted: sentence(answer) }),
        },
      ];
    }),
  );
}

function definitionResults({ definitionProblems }: ChecklistReport): SarifResult[] {
  return definitionProblems.map(({ message, file, line }) => ({
    rule: definitionRule,
    level: "error",
    message,
    file,
    line,
    identity: `definition\n${file}\n${message}`,
  }));
}

function waiverResults({ waiverProblems }: ChecklistReport): SarifResult[] {
  return waiverProblems.map(({ kind, item, message, file, line }) => ({
    rule: waiverRule,
    level: "error",
    message,
    file,
    line,
    identity: `waiver\n${kind}\n${item}\n${message}`,
  }));
}

function ruleId(id: string): string {
  return `checklist-${id}`;
}
