/** A report of the checklist as JUnit XML: an item is a suite, an answer a case. */
import type { ChecklistReport, ReportItem } from "../../checklist/report-schema.ts";
import { type JunitCase, type JunitSuite, junitXml } from "../junit.ts";
import { inert } from "./visible.ts";
import { type Answer, answersOf, evidenceText, itemName, scopeName, sentence } from "./wording.ts";

/** Failed answers are failures, unknown ones errors: neither may look like skipped. Waived ones are skipped, with the reason. */
export function checklistJunit(report: ChecklistReport): string {
  const suites = report.items.map((item) => suiteOf(item, report));
  if (report.waiverProblems.length > 0) suites.push(waiverSuite(report));
  if (report.definitionProblems.length > 0) suites.push(definitionSuite(report));
  if (report.items.length === 0) suites.push(nothingRan(report));
  return inert(junitXml(suites, "escapement.checklist"));
}

function suiteOf(item: ReportItem, report: ChecklistReport): JunitSuite {
  const answers = answersOf(item, report);
  const seconds = item.durationMs / 1_000;
  return {
    ...frame(report),
    name: `checklist.${itemName(item).replace(" ", "-")}`,
    seconds,
    cases: answers.map((answer) => caseOf(answer, item, seconds / answers.length)),
    // What passed shows its evidence here: a case may carry no output in every schema.
    output: `${item.question}\n${item.how}\n${answers
      .filter(({ counts }) => counts === "pass")
      .map(
        (answer) => `\n${scopeName(answer.result)}: ${answer.result.message}\n${evidenceText(answer.result)}`,
      )
      .join("\n")
      .slice(0, 100_000)}`,
  };
}

function caseOf(answer: Answer, item: ReportItem, seconds: number): JunitCase {
  const { result, counts } = answer;
  const base = { name: scopeName(result), seconds };
  switch (counts) {
    case "pass":
      return { ...base, verdict: { kind: "passed" } };
    case "waived":
      return { ...base, verdict: { kind: "skipped", reason: sentence(answer) } };
    case "not-applicable":
      return { ...base, verdict: { kind: "skipped", reason: `does not apply: ${result.message}` } };
    default: {
      const todo = result.todo === undefined ? [] : [`To do: ${result.todo}`];
      const place = `${result.location.file}:${result.location.line}`;
      const text = [result.message, ...todo, `Asked: ${item.question}`, place, evidenceText(result)].join(
        "\n",
      );
      const kind = counts === "fail" ? "failure" : "error";
      return { ...base, verdict: { kind, type: counts, message: result.message, text } };
    }
  }
}

function waiverSuite(report: ChecklistReport): JunitSuite {
  return {
    ...frame(report),
    name: "checklist.waivers",
    seconds: 0,
    cases: report.waiverProblems.map(({ kind, message, item, file, line, column }) => ({
      name: `waiver for item ${item} at ${file}:${line}`,
      seconds: 0,
      verdict: { kind: "failure", type: kind, message, text: `${message}\n${file}:${line}:${column}` },
    })),
    output: "",
  };
}

function definitionSuite(report: ChecklistReport): JunitSuite {
  return {
    ...frame(report),
    name: "checklist.definitions",
    seconds: 0,
    cases: report.definitionProblems.map(({ message, file, line, column }) => ({
      name: `${file}:${line}:${column}`,
      seconds: 0,
      verdict: { kind: "failure", type: "definition", message, text: `${file}:${line}:${column} ${message}` },
    })),
    output: "",
  };
}

/** A document without a case would be read as green. */
function nothingRan(report: ChecklistReport): JunitSuite {
  const message = "no item of the checklist has run";
  const verdict = { kind: "error", type: "unknown", message, text: message } as const;
  return {
    ...frame(report),
    name: "checklist",
    seconds: 0,
    cases: [{ name: "run", seconds: 0, verdict }],
    output: "",
  };
}

function frame(report: ChecklistReport) {
  return {
    at: new Date(report.at),
    hostname: report.cluster.name || "cluster",
    properties: {
      cluster: report.cluster.id ?? "unknown",
      commit: report.commit.id ?? "unknown",
      definitions: report.definitions.digest,
      version: report.tool.version,
      outcome: report.outcome,
    },
  };
}
