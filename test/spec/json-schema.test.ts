/** The committed JSON Schema files are those of this code. */
import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { jsonSchemaFile, jsonSchemaOf, jsonSchemaText } from "../../src/spec/json-schema.ts";
import { kindNames } from "../../src/spec/kinds.ts";
import { requiredPolicies } from "../../src/spec/required-policies.ts";

const folder = "docs/schema";

test("there is one file a kind, and no other", () => {
  expect(readdirSync(folder).sort()).toEqual(kindNames.map(jsonSchemaFile).sort());
});

test.each(kindNames)("the file of %s is up to date (escapement jobs schema -o docs/schema)", (kind) => {
  expect(readFileSync(`${folder}/${jsonSchemaFile(kind)}`, "utf8")).toBe(jsonSchemaText(kind));
});

test("an editor asks for every policy, unless a policy set is named", () => {
  const { properties } = jsonSchemaOf("Job") as { properties: { spec: Record<string, unknown> } };
  expect(properties.spec).toMatchObject({
    required: ["command", "schedule", "shards", "effects"],
    anyOf: [{ required: ["policySet"] }, { required: requiredPolicies.map(({ field }) => field) }],
    additionalProperties: false,
  });
});

test.each(["Job", "PolicySet", "Cluster"] as const)("every field of %s says what it is", (kind) => {
  const silent: string[] = [];
  const walk = (schema: unknown, path: string) => {
    if (typeof schema !== "object" || schema === null) return;
    const { properties = {}, ...rest } = schema as { properties?: Record<string, object> };
    for (const [name, field] of Object.entries(properties)) {
      if (!("description" in field) && !("const" in field)) silent.push(`${path}.${name}`);
      walk(field, `${path}.${name}`);
    }
    for (const [key, part] of Object.entries(rest))
      walk(part, Number.isNaN(Number(key)) ? path : `${path}[${key}]`);
  };
  walk(jsonSchemaOf(kind), kind);
  expect(silent).toEqual([`${kind}.spec`]);
});
