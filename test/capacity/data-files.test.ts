/** The data files that come with the program are right, and wrong ones are told with their place. */
import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { loadText } from "../../src/spec/load.ts";
import { formatProblem } from "../../src/spec/problem.ts";

const folder = new URL("../../capacity/", import.meta.url);
const read = (file: string) => readFileSync(new URL(file, folder), "utf8");
const files = [
  "catalogue.yaml",
  "sheet.yaml",
  ...readdirSync(new URL("workloads/", folder)).map((file) => `workloads/${file}`),
];

test.each(files)("capacity/%s", (file) => {
  const { documents, problems } = loadText(read(file), file);
  expect(problems.map(formatProblem)).toEqual([]);
  expect(documents).toHaveLength(1);
});

test("every price of the catalogue says where it is from and when, and that it is no quote yet", () => {
  const { documents } = loadText(read("catalogue.yaml"), "catalogue.yaml");
  const { spec } = documents[0]!.value as { spec: { parts: { price: { source: string; date: string } }[] } };
  expect(spec.parts.length).toBeGreaterThan(20);
  for (const { price } of spec.parts)
    expect(price).toMatchObject({
      source: "planning figure",
      date: expect.stringMatching(/^\d{4}-\d{2}-\d{2}$/),
    });
});

describe("mistakes", () => {
  const workload = read("workloads/reference.yaml");
  const catalogue = read("catalogue.yaml");
  const sheet = read("sheet.yaml");
  const cases: [what: string, text: string, says: RegExp][] = [
    [
      "a field that does not exist",
      workload.replace("runsPerDay: 10", "runPerDay: 10"),
      /^f\.yaml:16:7 .*is not a known field.*did you mean runsPerDay\?/m,
    ],
    [
      "a class that does not exist",
      workload.replace("class: cpu", "class: gpu"),
      /spec\.jobs\.0\.class|is not one of the choices; found "gpu"; choices: cpu, memory, io, mixed/,
    ],
    ["a job name twice", workload.replace("name: full-compare", "name: reconciliation"), /is used twice/],
    [
      "peak and parts of memory",
      workload.replace("peak: 1GiB", "peak: 1GiB, heap: 1GiB"),
      /has both the measured peak and parts/,
    ],
    [
      "no memory at all",
      workload.replace("{ peak: 1GiB }", "{}"),
      /must have the measured peak, or at least the heap/,
    ],
    [
      "a bare number for a duration",
      workload.replace("totalTime: 30m", "totalTime: 30"),
      /must be a duration.*did you mean 30s\?/,
    ],
    [
      "promotion days without dates",
      workload.replace('when: dates, dates: ["2026-11-11", "2026-11-27"]', "when: dates"),
      /belong to when: dates/,
    ],
    [
      "a day that does not exist",
      workload.replace("2026-11-27", "2026-11-31"),
      /must be a date such as 2026-12-31; found "2026-11-31"/,
    ],
    [
      "negative executions",
      workload.replace("runsPerDay: 10", "runsPerDay: -10"),
      /must be a number from 0\.001 to 86400; found -10/,
    ],
    ["a part id twice", catalogue.replace("id: cpu-8,", "id: cpu-16,"), /is used twice/],
    [
      "a part of an unknown type",
      catalogue.replace("type: network", "type: gpu"),
      /is not one of the choices/,
    ],
    [
      "a price without a source",
      catalogue.replace("source: planning figure, ", ""),
      /price\.source|is missing/,
    ],
    ["a lower-case currency", catalogue.replace("currency: EUR", "currency: eur"), /three capital letters/],
    [
      "a test that does not exist",
      sheet.replace("check: numa-nodes", "check: numa"),
      /is not one of the choices/,
    ],
    ["a requirement twice in a role", sheet.replace("- { id: ecc,", "- { id: memory,"), /is used twice/],
    [
      "a figure that nobody computes",
      sheet.replace("atLeast: memoryBytes", "atLeast: memory"),
      /choices: cores, memoryBytes/,
    ],
  ];
  test.each(cases)("%s", (_, text, says) => {
    const { problems } = loadText(text, "f.yaml");
    expect(problems.length).toBeGreaterThan(0);
    const said = problems.map(formatProblem).join("\n");
    expect(said).toMatch(says);
    for (const { line, column } of problems) expect([line > 0, column > 0]).toEqual([true, true]);
  });
});
