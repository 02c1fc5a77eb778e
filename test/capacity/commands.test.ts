/** The capacity commands as users start them: what is nonsense, what is JSON, what a CSV may hold. */
import { readFileSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runEscapement } from "../support/processes.ts";

interface Nonsense {
  readonly args: readonly string[];
  readonly code: number;
  readonly says: string;
}
const nonsense = JSON.parse(
  readFileSync(new URL("../cases/capacity/nonsense.json", import.meta.url), "utf8"),
) as Nonsense[];
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "escapement-capacity-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

test.each(nonsense)("$args ends with $code", async ({ args, code, says }) => {
  const run = await runEscapement(["capacity", ...args, "--json"]);
  expect(run.code, run.stderr).toBe(code);
  expect(run.stdout).toBe("");
  const { error } = JSON.parse(run.stderr.trim().split("\n").at(-1)!);
  expect(`${error.message} ${error.hint} ${error.at ?? ""}${run.stderr}`).toContain(says);
  expect(error.code).not.toBe("E_BUG");
});

const asJson: readonly (readonly string[])[] = [
  ["shards", "--total", "90m", "--target", "3m", "--nodes", "8"],
  ["storage", "--runs-per-day", "2000", "--shards", "100", "--row-bytes", "1000"],
  ["iops", "--runs-per-day", "2000", "--shards", "100"],
];
test.each(asJson)("every figure of capacity %s shows formula, inputs and source", async (...args) => {
  const run = await runEscapement(["capacity", ...args, "--json"]);
  expect(run.code, run.stderr).toBe(0);
  const { schemaVersion, figures, binding } = JSON.parse(run.stdout);
  expect(schemaVersion).toBe(1);
  expect(Object.keys(figures).length).toBeGreaterThan(5);
  for (const figure of Object.values(figures) as Record<string, unknown>[]) {
    expect(figure).toMatchObject({
      label: expect.stringMatching(/./),
      formula: expect.stringMatching(/./),
      unit: expect.any(String),
      value: expect.any(Number),
      source: { id: expect.any(String), text: expect.stringMatching(/./) },
    });
    expect(figure.inputs).toBeTypeOf("object");
  }
  expect(binding).toMatchObject({ constraint: expect.stringMatching(/./), why: expect.stringMatching(/./) });
  expect(binding.limits.length).toBeGreaterThan(2);
});

test("the same as text names the formula and what binds", async () => {
  const run = await runEscapement(["capacity", "shards", "--total", "90m", "--target", "3m", "--nodes", "8"]);
  expect(run.stdout).toMatch(/^32 shards: 4 a node/);
  expect(run.stdout).toMatch(/binding: target time/);
  expect(run.stdout).toMatch(/1h30m ÷ 32 +arithmetic/);
});

test("topology ends with 5 where something is not known, 1 where they must be apart, 0 where they may share", async () => {
  const workload = (extra: string, runAway: string) => `
apiVersion: escapement/v1
kind: Workload
metadata: { name: small }
spec:
  executorNodes: 2
  jobs:
    - name: report
      class: cpu
      runsPerDay: 4
      shards: 2
      totalTime: 5m
      memory: { peak: 512MiB }
      networkPerShard: 1MB
      ${runAway}
  ${extra}
`;
  const judge = async (text: string, ...args: string[]) => {
    const file = join(folder, "workload.yaml");
    writeFileSync(file, text);
    return (await runEscapement(["capacity", "topology", "--workload", file, ...args])).code;
  };
  const machine = ["--cores", "16", "--memory", "64GiB", "--network", "1.25GB"];
  expect(await judge(workload("executorChangesPerMonth: 0", "canRunAway: false"), ...machine)).toBe(0);
  expect(await judge(workload("", "canRunAway: false"), ...machine)).toBe(5);
  expect(await judge(workload("executorChangesPerMonth: 0", ""), ...machine)).toBe(5);
  expect(await judge(workload("executorChangesPerMonth: 0", "canRunAway: false"))).toBe(5);
  expect(await judge(workload("executorChangesPerMonth: 0", "canRunAway: true"), ...machine)).toBe(1);
  expect(await judge(workload("executorChangesPerMonth: 4", "canRunAway: false"), ...machine)).toBe(1);
});

const shards = (file: string, ...more: string[]) =>
  runEscapement([
    "capacity",
    "shards",
    "--total",
    "90m",
    "--target",
    "3m",
    "--nodes",
    "8",
    "--keys",
    file,
    ...more,
    "--json",
  ]);
const csv = (text: string) => {
  const file = join(folder, "keys.csv");
  writeFileSync(file, text);
  return file;
};

test("a histogram may quote its keys, hold commas and line ends in them, and end without a line end", async () => {
  const run = await shards(
    csv('key,rows\r\n"a,b",5\r\n"say ""hi""\nthere",5\r\nplain,90'),
    "--weight-column",
    "rows",
  );
  expect(run.code, run.stderr).toBe(0);
  expect(JSON.parse(run.stdout).chosen.skew.split.map(({ key }: { key: string }) => key)).toEqual(
    ["plain", "a,b", 'say "hi"\nthere'].slice(0, 1),
  );
});

test.each([
  ["an empty file", "", "empty"],
  ["a header alone", "key\n", "no line but the first"],
  ["another header", "name\nx\n", "no column key; it has: name"],
  ["a missing key", "key,rows\n,5\n", "keys.csv:2"],
  ["a negative weight", "key,rows\na,1\nb,-1\n", "keys.csv:3"],
  ["a weight that is no number", "key,rows\na,many\n", 'rows is "many"'],
  ["work that adds up to nothing", "key,rows\na,0\n", "adds up to nothing"],
  ["work without bounds", "key,rows\na,1e308\nb,1e308\n", "more than a number holds"],
  ["a column twice", "key,key\na,b\n", "two columns key"],
  ["another separator", "key;n\na;1\n", "separated by commas"],
  ["a name that would move the cursor", "\u001b[31mname\nx\n", "it has: ·[31mname"],
  ["a quote without end", 'key,rows\n"a,1\n', "keys.csv:2"],
])("%s is refused with its place", async (_, text, says) => {
  const run = await shards(csv(text), ...(text.includes("rows") ? ["--weight-column", "rows"] : []));
  expect(run.code).toBe(65);
  const { error } = JSON.parse(run.stderr);
  expect(
    `${error.message}; ${error.hint.replace("it has", "it has")} ${error.at}`.replace("; it has", "; it has"),
  ).toContain(says);
});

test("a catalogue without a part that fits says which part is missing", async () => {
  const file = join(folder, "catalogue.yaml");
  const whole = readFileSync(new URL("../../capacity/catalogue.yaml", import.meta.url), "utf8");
  const without = (pattern: RegExp) =>
    whole
      .split("\n")
      .filter((line) => !pattern.test(line))
      .join("\n");
  for (const [pattern, says] of [
    [/type: raid-controller/, /scheduler.*RAID controller/],
    [/type: network/, /no part of type network/],
    [/powerSupplies: 2/, /power supplies: 2 are needed/],
    [/powerLossProtection: true/, /with power-loss protection/],
    [/gigabits: (10|25)/, /10 Gbit\/s are needed/],
  ] as const) {
    writeFileSync(file, without(pattern));
    const run = await runEscapement(["capacity", "sheet", "--catalogue", file]);
    expect(run.code).toBe(65);
    expect(run.stderr).toMatch(says);
  }
});
