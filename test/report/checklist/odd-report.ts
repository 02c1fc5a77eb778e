/** A report with one of everything, and texts that every format has to survive. */
import type { Scope } from "../../../src/checklist/item.ts";
import type { ChecklistReport } from "../../../src/checklist/report-schema.ts";
import { answer, evidence, job, reportOf, waiver } from "../../checklist/fake-report.ts";

/** Markup, control characters, colours, half a character, quotes, pipes, line ends. */
export const oddText =
  "a & b < c > d \"e\" 'f' | g * h _i_ `j` ]]> \u0000\u0007\u001b[31mred\u001b[0m \ud83d \udc00 😀 \ufffe\r\nsecond <script>alert(1)</script> line";

const host: Scope = { kind: "host", name: "db-1" };

/** Fails, unknown answers, waived ones, what does not apply, waivers and files in error, a trend. */
export function oddReport(): Promise<ChecklistReport> {
  return reportOf(
    {
      2: [
        answer("fail", {
          scope: job("a/b"),
          message: oddText,
          todo: oddText,
          evidence: [evidence({ what: oddText, output: oddText, host: oddText, ageMs: 90_061_001 })],
          location: { file: "jobs/a b:c.yaml", line: 7 },
        }),
        answer("fail", { scope: job("a/b"), message: "a second answer of the same scope" }),
        answer("pass", { scope: job("a/d") }),
      ],
      3: [answer("unknown", { scope: host, message: "could not look", evidence: [] })],
      4: [answer("fail", { scope: host, message: "waived by somebody" })],
      5: [answer("not-applicable", { message: "there is nothing to catch up", evidence: [] })],
    },
    {
      waivers: [waiver(4, host, { reason: oddText }), waiver(42, { kind: "cluster" })],
      definitionProblems: [
        { file: "jobs/x.yaml", line: 0, column: 0, path: "spec.lease", message: "is missing" },
      ],
      baseline: {
        from: "old.json",
        summary: {
          at: "2026-06-01T00:00:00.000Z",
          commit: null,
          items: [{ number: 2, verdict: "pass", message: "", open: [], passed: 1 }],
        },
      },
    },
  );
}

/** As many jobs as a large site has, all of them open. */
export function largeReport(jobs: number): Promise<ChecklistReport> {
  const answers = Array.from({ length: jobs }, (_, i) =>
    answer(i % 2 ? "unknown" : "fail", {
      scope: job(`site/job-${i}`),
      message: `${i} ${"long ".repeat(40)}`,
      todo: "mend it",
    }),
  );
  return reportOf({ 3: answers, 4: answers, 5: answers, 6: answers, 14: answers });
}
