/** The kind HostProfile: every field says what it is, and the page about profiles names them all. */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { requiredFields, sectionNames } from "../../src/spec/host-profile-schema.ts";
import { jsonSchemaOf } from "../../src/spec/json-schema.ts";
import { loadText } from "../../src/spec/load.ts";
import { formatProblem } from "../../src/spec/problem.ts";

const page = readFileSync("docs/profiles.md", "utf8");

test("every field and every choice is on the page", () => {
  const words = new Set<string>();
  const walk = (schema: unknown) => {
    if (typeof schema !== "object" || schema === null) return;
    const { properties, const: only, enum: choices } = schema as Record<string, unknown>;
    for (const name of Object.keys(properties ?? {})) words.add(name);
    for (const word of [only, ...((choices as unknown[]) ?? [])])
      if (typeof word === "string") words.add(word);
    for (const part of Object.values(schema)) walk(part);
  };
  walk(jsonSchemaOf("HostProfile"));
  expect(words.size).toBeGreaterThan(100);
  const written = new Set(page.match(/[A-Za-z][\w/-]*/g));
  expect([...words].filter((word) => !written.has(word))).toEqual([]);
});

test("every field says what it is", () => {
  const silent: string[] = [];
  const walk = (schema: unknown, path: string) => {
    if (typeof schema !== "object" || schema === null) return;
    const { properties = {}, ...rest } = schema as { properties?: Record<string, object> };
    for (const [name, field] of Object.entries(properties)) {
      if (!("description" in field) && !("const" in field)) silent.push(`${path}.${name}`);
      walk(field, `${path}.${name}`);
    }
    for (const [key, part] of Object.entries(rest))
      walk(part, Number.isNaN(Number(key)) ? path : `${path}[]`);
  };
  walk(jsonSchemaOf("HostProfile"), "HostProfile");
  expect([...new Set(silent)]).toEqual(["HostProfile.spec"]);
});

test("every setting that profiles read is on the page", async () => {
  const { readdirSync } = await import("node:fs");
  const folder = "src/provision/profile";
  const source = readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts"))
    .map((name) => readFileSync(`${folder}/${name}`, "utf8"))
    .join("\n");
  const read = [
    ...source.matchAll(/\b(?:list|text|setting|figure)\("(\w+)"/g),
    ...source.matchAll(/settings\.(\w+)/g),
  ].map((match) => match[1]!);
  expect(new Set(read).size).toBeGreaterThan(10);
  expect([...new Set(read)].filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
});

test("the example of the page is right", () => {
  const example = /^```yaml\n([\s\S]*?)^```/m.exec(page)![1]!;
  expect(loadText(example, "page.yaml").problems.map(formatProblem)).toEqual([]);
});

test("the base profile alone has no field that must be there", () => {
  const { documents, problems } = loadText(
    "apiVersion: escapement/v1\nkind: HostProfile\nmetadata: { name: x }\nspec: {}\n",
    "x.yaml",
  );
  expect(problems).toEqual([]);
  expect(documents[0]?.value).toMatchObject({ spec: { includes: [], resources: [] } });
});

test("fields that must be there after the includes are counted to the innermost", () => {
  expect(sectionNames).toHaveLength(15);
  expect(requiredFields("timeZone")).toEqual(["zone", "hardwareClock"]);
  expect(requiredFields("firewall")).toEqual(["incoming", "services"]);
  expect(requiredFields("kernel")).toContain("keepalive.probes");
  expect(requiredFields("kernel")).not.toContain("numaBalancing");
  expect(requiredFields("executor")).toContain("io.peakMemory");
});
