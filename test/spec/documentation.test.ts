/** The page about job files tells the truth: its examples are right, and it names every field and choice. */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { validateSchedule } from "../../src/cli/jobs/validate-schedule.ts";
import { jsonSchemaOf } from "../../src/spec/json-schema.ts";
import { loadText } from "../../src/spec/load.ts";
import { requiredPolicies, requiredWithClockChanges } from "../../src/spec/required-policies.ts";
import { resolveJobs } from "../../src/spec/resolve.ts";

const page = readFileSync("docs/job-files.md", "utf8");
const examples = [...page.matchAll(/^```yaml\n([\s\S]*?)^```/gm)].map((match) => match[1]!);
const documents = examples.filter((example) => example.includes("apiVersion"));

test.each(documents.map((text) => [/name: (\S+)/.exec(text)?.[1], text]))(
  "the example of %s is right",
  (_, text) => {
    const loaded = loadText(text!, "example.yaml");
    const resolved = resolveJobs(loaded.documents, { validateSchedule });
    expect([...loaded.problems, ...resolved.problems]).toEqual([]);
    expect(loaded.documents.length).toBeGreaterThan(0);
  },
);

test("there are examples of a job, a policy set and a cluster", () => {
  expect(documents.length).toBe(3);
});

test.each(["Job", "PolicySet", "Cluster"] as const)(
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

test("every policy that has no default has a row that says why", () => {
  for (const { field } of [...requiredPolicies, ...requiredWithClockChanges])
    expect(page).toMatch(new RegExp(`^\\| \`${field}\` \\| .+ \\| .{40,} \\|$`, "m"));
});
