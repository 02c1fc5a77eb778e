/** `escapement profiles` and `escapement explain`, as people call them. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { runEscapement } from "../../support/processes.ts";
import { factsOf, nothingKnown } from "./machines.ts";
import { siteHosts, siteSettings } from "./site.ts";

const folder = mkdtempSync(join(tmpdir(), "escapement-explain-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function write(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

const inventory = write(
  "inventory.yaml",
  [
    "apiVersion: escapement/v1",
    "kind: Inventory",
    "metadata: { name: site }",
    `spec: ${JSON.stringify({ settings: siteSettings, hosts: siteHosts })}`,
  ].join("\n"),
);
const facts = write(
  "facts.json",
  JSON.stringify({ hosts: [{ host: "exec-1", status: "ok", facts: factsOf("twoSockets") }] }),
);
const nothing = write("nothing.json", JSON.stringify(nothingKnown()));

test("a value, its formula and its resource", async () => {
  const { stdout, code } = await runEscapement([
    ...["explain", "exec-1", "executor.slots.cpu"],
    ...["-i", inventory, "--facts", facts],
  ]);
  expect(code).toBe(0);
  expect(stdout).toMatch(/^executor\.slots\.cpu = 50\n {2}from +computed\n {2}because +.*2 NUMA nodes/);
  expect(stdout).toMatch(/in +file:\/etc\/escapement\/cluster\.yaml/);
});

test("a value that cannot be known ends with 5 and says why", async () => {
  const result = await runEscapement([
    ...["explain", "exec-1", "executor.slots", "-i", inventory],
    ...["--facts", nothing, "--json"],
  ]);
  expect(result.code).toBe(5);
  expect(JSON.parse(result.stdout)).toMatchObject({
    schemaVersion: 1,
    host: "exec-1",
    profile: "executor-cpu",
    values: [
      { value: "unknown" },
      { value: "unknown" },
      { value: "unknown", because: expect.stringMatching(/setting cores can say it/) },
    ],
  });
});

test.each([
  ["a slip of the pen", ["exec-1", "executor.slot.cpu"], 64, /did you mean executor\.slots\.cpu\?/],
  ["a host that is not there", ["exec-7", "clock"], 64, /there is no host exec-7/],
  ["facts of another host", ["exec-2", "clock"], 65, /holds no facts of exec-2/],
])("%s", async (_, words, expected, message) => {
  const result = await runEscapement(["explain", ...words, "-i", inventory, "--facts", facts]);
  expect(result.code).toBe(expected);
  expect(result.stderr).toMatch(message);
});

test("profiles of the program are right, and listed", async () => {
  expect(await runEscapement(["profiles", "check"])).toMatchObject({ code: 0 });
  const list = await runEscapement(["profiles", "list", "--json"]);
  const { profiles } = JSON.parse(list.stdout) as { profiles: { name: string; sections: string[] }[] };
  expect(profiles.map(({ name }) => name)).toContain("executor-io");
  expect(profiles.find(({ name }) => name === "record-store")?.sections).toContain("recordStore");
});

test("a wrong profile ends with 65, file, line and column, wherever it is used", async () => {
  const own = write(
    "own.yaml",
    "apiVersion: escapement/v1\nkind: HostProfile\nmetadata: { name: own }\nspec:\n  includes: [base]\n  clock:\n    minSource: 2\n",
  );
  const check = await runEscapement(["profiles", "check", own]);
  expect(check.code).toBe(65);
  expect(check.stdout).toMatch(/own\.yaml:7:5 {2}spec\.clock\.minSource is not a known field/);
  const used = await runEscapement([
    ...["explain", "exec-1", "clock", "-i", inventory],
    ...["--facts", facts, "--profiles", own],
  ]);
  expect(used.code).toBe(65);
  expect(used.stderr).toMatch(/own\.yaml:7:5/);
});
