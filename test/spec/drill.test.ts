/** Drill files: those that come with the program are right, and what cannot be so is told with its place. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { findingClasses } from "../../src/chaos/checkers/finding.ts";
import { drillClasses, mandatoryDrillClasses } from "../../src/spec/drill-definition.ts";
import { formatProblem } from "../../src/spec/problem.ts";
import { loadDrills, parseDrills } from "../../src/spec/resolve-drill.ts";
import { lightest, writeBriefDrills } from "../hosts/drill/brief-drills.ts";

const classes = Object.keys(findingClasses);
const { drills, problems } = await loadDrills(["chaos"], classes);
const definitions = drills.map(({ definition }) => definition);

test("every drill that comes with the program is right", () => {
  expect(problems.map(formatProblem)).toEqual([]);
  expect(definitions.map(({ name }) => name)).toEqual([
    "cut-network",
    "fill-disk",
    "kill-executor",
    "kill-store",
    "memory-limit",
    "pause-executor",
    "pause-primary",
    "skew-clock",
    "skew-clock-store",
    "stop-primary",
  ]);
});

test("there is a drill for every class, and one that spares the store for every mandatory one", () => {
  const covered = new Set(definitions.map((one) => one.class));
  expect([...drillClasses].filter((one) => !covered.has(one))).toEqual([]);
  for (const mandatory of mandatoryDrillClasses)
    expect(definitions.some((one) => one.class === mandatory && !one.blastRadius.recordStore)).toBe(true);
});

test("none of them allows a failure, and the test of the fence needs a refused write", () => {
  const variants = definitions.flatMap((one) => one.variants);
  expect(variants.filter(({ pass }) => pass.allowedFailures.length > 0)).toEqual([]);
  const zombies = variants.filter(
    ({ fault, target }) => fault.kind === "pause" && target.role === "executor",
  );
  expect(zombies.length).toBeGreaterThan(0);
  for (const { pass } of zombies) expect(pass.refusedStaleWrites).toBeGreaterThan(0);
});

test("a variant has what it does not say from the drill", () => {
  const cut = definitions.find(({ name }) => name === "cut-network")!;
  const [symmetric, receive] = cut.variants;
  expect(symmetric!.fault).toEqual({ kind: "cut", direction: "both", keep: [] });
  expect(receive!.fault).toEqual({ kind: "cut", direction: "receive", keep: [] });
  expect(receive!.target).toEqual(symmetric!.target);
  expect(receive!.hold).toEqual({ times: 1, of: "executor-lease-and-reclaim", atLeastMs: 30_000 });
  expect(definitions.find(({ name }) => name === "pause-executor")!.variants.map(({ name }) => name)).toEqual(
    ["pause-executor"],
  );
});

test("ahead and behind become seconds with a sign", () => {
  const skew = definitions.find(({ name }) => name === "skew-clock")!;
  expect(skew.variants.map(({ fault }) => (fault.kind === "clock" ? fault.offsetSeconds : 0))).toEqual([
    300, -300, 300, -300,
  ]);
});

test("the digest follows what is said, not how it is written", () => {
  const text = (spec: string) =>
    `apiVersion: escapement/v1\nkind: Drill\nmetadata: { name: one }\nspec:\n${spec}`;
  const of = (spec: string) => parseDrills(text(spec), "one.yaml", classes).drills[0]!.digest;
  const spec = indented(smallest);
  expect(of(spec)).toBe(of(`  # a remark\n${spec.replaceAll("30s", "30000ms")}`));
  expect(of(spec)).not.toBe(of(spec.replace("30s", "31s")));
});

const smallest = `class: executor-killed
description: one
target: { role: executor, owning: running-shard }
fault: { kind: kill, restart: allowed }
hold: { for: 30s }
proof: [{ see: process-gone, from: controller }]
pass: { takeoverWithin: 30s }`;

function indented(spec: string): string {
  return spec
    .split("\n")
    .map((line) => `  ${line}`)
    .join("\n");
}

test.each([
  ["owning: running-shard", "", "an executor that need not own a shard", "spec.target must have owning"],
  [
    "role: executor, owning: running-shard",
    "role: record-store",
    "a record store that the drill does not speak of",
    "blastRadius does not say recordStore: true",
  ],
  [
    "from: controller",
    "from: target",
    "a proof by the target alone",
    "spec.proof is only the target's own word",
  ],
  ["see: process-gone", "see: clock-offset", "a proof that never comes", "never shows"],
  ["for: 30s", "for: 20s", "a hold without fires enough", "at least 8 fire(s) come due in it"],
  ["hold: { for: 30s }", "hold: { times: 2 }", "half a hold", "must have `for`, or `times` and `of`"],
  [
    "hold: { for: 30s }",
    "hold: { for: 30s }\nsettle: { minimum: 1h, deadline: 10s }",
    "no time to come to rest",
    "spec.settle ends at deadline (10s) before 2 reads 5s apart can follow minimum (1h): always unknown",
  ],
  ["hold: { for: 30s }\n", "", "no hold", "spec has no hold"],
  [
    "kind: kill, restart: allowed",
    "kind: clock, ahead: 5m, behind: 5m",
    "a clock that goes both ways",
    "must have exactly one of ahead and behind",
  ],
  [
    "takeoverWithin: 30s",
    "takeoverWithin: 30s, allowedFailures: [losst]",
    "a class that the checker does not know",
    "allows losst, which the checker never finds",
  ],
  [
    "takeoverWithin: 30s",
    "takeoverWithin: 30s, culpritNamed: true",
    "a question about clocks without one that moves",
    "asks about clocks",
  ],
  ["class: executor-killed", "class: network-cut", "a class of another fault", "spec.class is network-cut"],
  ["class: executor-killed", "class: primary-stopped", "a class of another target", "spec.class is primary"],
  [
    "takeoverWithin: 30s",
    "takeoverWithin: 30s, allowedFailures: [lost]",
    "a failure that is overlooked where the checklist counts",
    "the checklist counts a pass of executor-killed",
  ],
  [
    "\npass: { takeoverWithin: 30s }",
    "",
    "an executor that is killed and nobody asked when its work went on",
    "spec.pass has no takeoverWithin, and the checklist counts a pass of executor-killed",
  ],
  [
    "description: one",
    "description: one\nsteadyState: { standbyHealthy: false }",
    "a beginning without a standby where the checklist counts",
    "spec.steadyState does not ask for a standby",
  ],
  [
    "description: one",
    "description: one\nsteadyState: { noCriticalAlerts: false }",
    "a beginning amid alerts where the checklist counts",
    "spec.steadyState does not ask for a standby and no critical alert",
  ],
  [
    "description: one",
    "description: one\nload: { jobs: 1 }",
    "work of one kind where the checklist counts",
    "spec.load is less than 2 jobs",
  ],
  [
    "description: one",
    "description: one\nload: { obligations: 4 }",
    "too few fires where the checklist counts",
    "spec.load is less than 2 jobs and 5 obligations",
  ],
  ["from: controller", "from: another-host", "a proof from where nobody looks", "where nobody sees it"],
  [
    "see: process-gone, from: controller",
    "see: leader-moved, from: records",
    "a proof that another role shows",
    "which only scheduler-leader shows",
  ],
])("instead of %j: %j is refused: %s", (right, wrong, _, message) => {
  const load = smallest.includes("load:") ? "" : "\nload: { obligations: 9 }";
  const text = (spec: string) =>
    `apiVersion: escapement/v1\nkind: Drill\nmetadata: { name: one }\nspec:\n${indented(spec)}\n`;
  expect(parseDrills(text(smallest + load), "one.yaml", classes).problems).toEqual([]);
  const broken = smallest.replace(right, wrong);
  const found = parseDrills(text(broken.includes("load:") ? broken : broken + load), "one.yaml", classes);
  expect(found.drills).toEqual([]);
  expect(found.problems.map(formatProblem).join("\n")).toContain(message);
  expect(found.problems[0]!.line).toBeGreaterThan(0);
});

test.each([
  ["cut, direction: both", "network-cut", "another-host", undefined],
  ["cut, direction: receive", "network-cut", "another-host", undefined],
  ["pause", "executor-paused", "records", undefined],
  ["pause", "executor-paused", "another-host", "asks for unreachable from another-host"],
  ["power", "executor-killed", "another-host", "asks for unreachable from another-host"],
])(
  "that a host cannot be reached: a fault %s of class %s, as the %s sees it",
  (fault, stands, from, problem) => {
    const spec = smallest
      .replace("kind: kill, restart: allowed", `kind: ${fault}`)
      .replace("class: executor-killed", `class: ${stands}`)
      .replace("see: process-gone, from: controller", `see: unreachable, from: ${from}`);
    const text = `apiVersion: escapement/v1\nkind: Drill\nmetadata: { name: one }\nspec:\n${indented(`${spec}\nload: { obligations: 5 }`)}\n`;
    const problems = parseDrills(text, "one.yaml", classes).problems.map(formatProblem);
    expect(problems).toEqual(problem === undefined ? [] : [expect.stringContaining(problem)]);
  },
);

test("two variants of one name, and a variant that lacks something", () => {
  const text = `apiVersion: escapement/v1
kind: Drill
metadata: { name: one }
spec:
  class: executor-killed
  description: one
  target: { role: executor, owning: running-shard }
  hold: { for: 30s }
  proof: [{ see: process-gone, from: controller }]
  pass: { takeoverWithin: 30s }
  variants:
    - { name: a, fault: { kind: kill, restart: allowed } }
    - { name: a, fault: { kind: kill, restart: suppressed } }
    - { name: b }
`;
  expect(parseDrills(text, "one.yaml", classes).problems.map(formatProblem)).toEqual([
    "one.yaml:13:15  spec.variants[1].name is used twice",
    "one.yaml:14:7  spec.variants[2] has no fault, neither has the drill",
  ]);
});

test.each([
  ["hosts", undefined],
  ["emulated machines", lightest],
])("the copies that tests on %s run are drills, too", async (_, pace) => {
  const folder = mkdtempSync(join(tmpdir(), "brief-drills-"));
  try {
    writeBriefDrills("chaos", folder, pace);
    const copies = await loadDrills([folder], classes);
    expect(copies.problems.map(formatProblem)).toEqual([]);
    expect(copies.drills.length).toBe(drills.length);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
