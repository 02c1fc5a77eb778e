/** The page about drill files tells the truth: its examples are right, and it names every field and choice. */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { findingClasses } from "../../src/chaos/checkers/finding.ts";
import { jsonSchemaOf } from "../../src/spec/json-schema.ts";
import { parseDrills } from "../../src/spec/resolve-drill.ts";
import { parseDrillSchedule } from "../../src/spec/resolve-drill-schedule.ts";

const page = readFileSync("docs/drill-files.md", "utf8");
const examples = [...page.matchAll(/^```yaml\n([\s\S]*?)^```/gm)].map((match) => match[1]!);

test("the examples are right", () => {
  const [drill, schedule, ...rest] = examples;
  expect(rest).toEqual([]);
  const { drills, problems } = parseDrills(drill!, "drill", Object.keys(findingClasses));
  expect([problems, drills.length]).toEqual([[], 1]);
  expect(parseDrillSchedule(schedule!, "schedule").problems).toEqual([]);
});

test("the values that the drill's example shows are the ones that hold without them", () => {
  const classes = Object.keys(findingClasses);
  const bare = examples[0]!.replace(
    /^ {2}(steadyState|load|abort|settle|blastRadius|limitAfterHold):.*\n/gm,
    "",
  );
  expect(bare).not.toBe(examples[0]);
  expect(parseDrills(bare, "bare", classes).drills[0]!.digest).toBe(
    parseDrills(examples[0]!, "whole", classes).drills[0]!.digest,
  );
});

test.each(["Drill", "DrillSchedule"] as const)(
  "every field and every choice of %s is on the page",
  (kind) => {
    const words = new Set<string>();
    const walk = (schema: unknown) => {
      if (typeof schema !== "object" || schema === null) return;
      const { properties, const: only, enum: choices } = schema as Record<string, unknown>;
      for (const name of Object.keys(properties ?? {})) words.add(name);
      for (const word of [only, ...((choices as unknown[]) ?? [])])
        if (typeof word === "string") words.add(word);
      for (const part of Object.values(schema)) walk(part);
    };
    walk(jsonSchemaOf(kind));
    expect(words.size).toBeGreaterThan(20);
    const written = new Set(page.match(/[A-Za-z][\w/-]*/g));
    expect([...words].filter((word) => !written.has(word))).toEqual([]);
  },
);
