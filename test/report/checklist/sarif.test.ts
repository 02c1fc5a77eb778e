/** SARIF against the schema of 2.1.0, and the rules of GitHub's code scanning that the schema does not know. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { assembleReport } from "../../../src/checklist/assemble-report.ts";
import { checklistSarif } from "../../../src/report/checklist/sarif.ts";
import { mostResults, sarifLog } from "../../../src/report/sarif.ts";
import { answer, job, reportOf } from "../../checklist/fake-report.ts";
import { largeReport, oddReport } from "./odd-report.ts";

const require = createRequire(import.meta.url);
const Ajv = require("ajv-draft-04").default;
const addFormats = require("ajv-formats").default;

const ajv = new Ajv({ strict: false, allErrors: true, unicodeRegExp: false });
addFormats(ajv);
const schemaFile = require.resolve("@microsoft/jest-sarif/lib/schemas/sarif-2.1.0-rtm.5.json");
const validate = ajv.compile(JSON.parse(readFileSync(schemaFile, "utf8")));

interface Log {
  readonly version: string;
  readonly runs: readonly {
    readonly tool: {
      readonly driver: { readonly rules: readonly { id: string; properties: { tags: string[] } }[] };
    };
    readonly invocations: readonly {
      readonly toolExecutionNotifications?: readonly { message: { text: string } }[];
    }[];
    readonly results: readonly {
      readonly ruleId: string;
      readonly ruleIndex: number;
      readonly level: string;
      readonly message: { readonly text: string };
      readonly locations: readonly {
        readonly physicalLocation: {
          artifactLocation: { uri: string; uriBaseId?: string };
          region: { startLine: number };
        };
      }[];
      readonly partialFingerprints: Record<string, string>;
      readonly suppressions?: readonly { readonly justification: string }[];
    }[];
  }[];
}

function read(text: string): Log {
  const log = JSON.parse(text);
  expect(validate(log), JSON.stringify(validate.errors?.slice(0, 3))).toBe(true);
  return log;
}

test("reports of all kinds are valid, and the schema does refuse", async () => {
  for (const report of [await reportOf(), await oddReport(), await reportOf({}, { runs: [] })])
    read(checklistSarif(report));
  const log = JSON.parse(checklistSarif(await oddReport()));
  log.runs[0].results[0].level = "bad";
  expect(validate(log)).toBe(false);
});

test("every result has a place in the repository: one file, relative, a line from 1", async () => {
  const { results } = read(checklistSarif(await oddReport())).runs[0]!;
  expect(results.length).toBeGreaterThan(4);
  for (const { locations } of results) {
    expect(locations.length).toBe(1);
    const { artifactLocation, region } = locations[0]!.physicalLocation;
    expect(artifactLocation.uriBaseId).toBeUndefined();
    expect(artifactLocation.uri).toMatch(/^[\w.%-]+(\/[\w.%-]+)*$/);
    expect(new URL(artifactLocation.uri, "https://example.test/repo/").pathname).toMatch(/^\/repo\/./);
    expect(region.startLine).toBeGreaterThanOrEqual(1);
  }
  expect(results.map((one) => one.locations[0]!.physicalLocation.artifactLocation.uri)).toContain(
    "jobs/a%20b%3Ac.yaml",
  );
});

test.each(["", "/etc/passwd", "../up.yaml", "a/../../b"])(
  "a place outside the repository (%s) becomes the scope's own",
  async (file) => {
    const { results } = read(checklistSarif(await reportOf({ 3: [answer("fail", { location: { file } })] })))
      .runs[0]!;
    expect(results[0]!.locations[0]!.physicalLocation).toMatchObject({
      artifactLocation: { uri: "cluster.yaml" },
      region: { startLine: 3 },
    });
    const result = { rule: "r", level: "error", message: "m", file, line: 1, identity: "i" } as const;
    expect(() => sarifLog({ tool: "t", version: "1", category: "c", rules: [], results: [result] })).toThrow(
      RangeError,
    );
  },
);

test("a place without a line is the first line", () => {
  const result = { rule: "r", level: "error", message: "m", file: "a", line: 0, identity: "i" } as const;
  const log = sarifLog({ tool: "t", version: "1", category: "c", rules: [], results: [result] });
  const { results } = read(JSON.stringify(log)).runs[0]!;
  expect(results[0]!.locations[0]!.physicalLocation.region.startLine).toBe(1);
});

test("levels: fail is an error, unknown a warning, waived a note that is suppressed; a pass is no result", async () => {
  const { results, tool } = read(checklistSarif(await oddReport())).runs[0]!;
  const of = (rule: string) => results.filter(({ ruleId }) => ruleId === rule).map(({ level }) => level);
  expect(of("checklist-fake-2")).toEqual(["error", "error"]);
  expect(of("checklist-fake-3")).toEqual(["warning"]);
  expect(of("checklist-fake-4")).toEqual(["note"]);
  expect(of("checklist-fake-5")).toEqual([]);
  expect(of("checklist-waivers")).toEqual(["error"]);
  expect(of("checklist-definitions")).toEqual(["error"]);
  expect(results.find(({ suppressions }) => suppressions)?.ruleId).toBe("checklist-fake-4");
  for (const { ruleId, ruleIndex } of results) expect(tool.driver.rules[ruleIndex]!.id).toBe(ruleId);
});

test("fingerprints stay when words, numbers and order change, and differ between scopes", async () => {
  const prints = async (messages: [string, string]) => {
    const answers = [
      answer("fail", { scope: job("a/b"), message: messages[0] }),
      answer("unknown", { scope: job("a/c"), message: messages[1] }),
    ];
    const report = await reportOf({ 3: answers });
    const { results } = read(checklistSarif(report)).runs[0]!;
    return results.map(({ partialFingerprints }) => partialFingerprints.primaryLocationLineHash!);
  };
  const before = await prints(["41 rows", "after 3 s"]);
  expect(await prints(["42 rows", "after 4 s"])).toEqual(before);
  expect(new Set(before).size).toBe(2);
  const { results } = read(checklistSarif(await oddReport())).runs[0]!;
  const all = results.map(({ partialFingerprints }) => partialFingerprints.primaryLocationLineHash);
  expect(new Set(all).size).toBe(all.length);
});

test("limits: results, tags, bytes; what is left out is counted, and is never worse", async () => {
  const report = await largeReport(2_000);
  const text = checklistSarif(report);
  const { results, tool, invocations } = read(text).runs[0]!;
  expect(results.length).toBe(mostResults);
  expect(invocations[0]!.toolExecutionNotifications?.[0]?.message.text).toMatch(/^5000 more result/);
  expect(tool.driver.rules.every(({ properties }) => properties.tags.length <= 20)).toBe(true);
  expect(gzipSync(text).length).toBeLessThan(10_000_000);
  for (const { message } of results) expect(message.text.length).toBeLessThanOrEqual(1_000);
});

test("a report whose files lie outside the repository still names places inside", async () => {
  const { report } = assembleReport({
    head: await reportOf(),
    runs: [],
    waivers: [],
    known: [],
    definitionProblems: [{ file: "../jobs/a.yaml", line: 3, column: 1, path: "", message: "is empty" }],
    locate: () => ({ file: "a.yaml", line: 1 }),
  });
  read(checklistSarif(report));
});
