/** `escapement facts` as users start it. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { release, tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { savedOutputs } from "../cases/hardware/outputs.ts";
import { runEscapement } from "../support/processes.ts";

let folder = "";
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "escapement-facts-command-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function save(name: string): string {
  const file = join(folder, "output");
  writeFileSync(file, savedOutputs.find((one) => one.name === name)!.text);
  return file;
}

test("this machine, as JSON", async () => {
  const run = await runEscapement(["facts", "--local", "--json"]);
  const { schemaVersion, hosts } = JSON.parse(run.stdout);
  expect(schemaVersion).toBe(1);
  expect(hosts).toHaveLength(1);
  expect(hosts[0]).toMatchObject({ status: "ok", facts: { os: { kernel: { known: release() } } } });
  const critical = hosts[0].findings.some((one: { severity: string }) => one.severity === "critical");
  expect(run.code, run.stderr).toBe(critical ? 1 : 0);
});

test("this machine, for people, findings only", async () => {
  const run = await runEscapement(["facts", "--local", "--findings-only"]);
  expect(run.stdout).not.toMatch(/^ {2}processor/m);
  expect((await runEscapement(["facts", "--local"])).stdout).toMatch(/^ {2}processor /m);
});

test("hosts that cannot be reached: none is 69, beside one that can 3", async () => {
  const inventory = (hosts: string) => {
    const file = join(folder, "inventory.yaml");
    writeFileSync(
      file,
      `apiVersion: escapement/v1\nkind: Inventory\nmetadata: { name: test }\nspec:\n  hosts:\n${hosts}`,
    );
    return file;
  };
  const gone = "    - { name: gone, address: 127.0.0.1, port: 1, user: nobody }\n";
  const none = await runEscapement(["facts", "-i", inventory(gone), "--json"]);
  expect(none.code, none.stderr).toBe(69);
  expect(JSON.parse(none.stdout).hosts[0]).toMatchObject({ host: "gone", status: "unreachable" });
  const here = "    - { name: here, address: localhost, connection: local }\n";
  const some = await runEscapement(["facts", "-i", inventory(gone + here), "--json"]);
  const document = JSON.parse(some.stdout);
  expect(document.hosts.map((one: { status: string }) => one.status)).toEqual(["unreachable", "ok"]);
  const isCritical = document.hosts[1].findings.some(
    (one: { severity: string }) => one.severity === "critical",
  );
  expect(some.code, some.stderr).toBe(isCritical ? 1 : 3);
});

test.each([
  ["storcli", "storcli: one volume of two caches even with a bad battery", [], 1],
  ["smartctl", "smartctl: an SSD whose capacitors failed their test", [], 0],
  ["chronyc-tracking", "chronyc tracking: never in step, offset 0", [], 1],
  ["ipmitool-sdr", "ipmitool: the last of three supplies lost its feed", [], 1],
  ["dmidecode", "numactl: a node without memory", [], 5],
] as const)("facts parse %s: %s", async (kind, name, more, code) => {
  const run = await runEscapement(["facts", "parse", kind, save(name), "--json", ...more]);
  expect(run.code, run.stderr).toBe(code);
  const document = JSON.parse(run.stdout);
  expect(document).toMatchObject({ kind, findings: expect.any(Array), unjudged: expect.any(Array) });
  if (code === 1) expect(document.findings[0].severity).toBe("critical");
});

test("without --whole nothing is concluded from what is not in a text", async () => {
  const file = save("chronyc sources: four good ones");
  const passed = async (...more: string[]) =>
    JSON.parse((await runEscapement(["facts", "parse", "chronyc-sources", file, "--json", ...more])).stdout)
      .passed.length;
  expect(await passed()).toBe(0);
  expect(await passed("--whole")).toBe(2);
});

test("wrong command lines", async () => {
  expect((await runEscapement(["facts", "parse", "nonsense", "-"])).code).toBe(64);
  expect((await runEscapement(["facts", "parse", "lscpu", join(folder, "absent")])).code).toBe(65);
  expect((await runEscapement(["facts", "--local", "alpha"])).code).toBe(64);
});
