/** The playbook commands as a person runs them, without a host to reach. */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { journalFile, lockJournal } from "../../../src/cli/playbook/journal-file.ts";
import { runEscapement } from "../../support/processes.ts";

function site(): string {
  const folder = mkdtempSync(join(tmpdir(), "escapement-site-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(
    join(folder, "inventory.yaml"),
    `apiVersion: escapement/v1
kind: Inventory
metadata: { name: site }
spec:
  defaults: { user: nobody, connectTimeout: 2s }
  hosts:
    - { name: sched-1, address: 127.0.0.1, port: 1, profile: scheduler, failureDomain: a }
    - { name: sched-2, address: 127.0.0.1, port: 1, profile: scheduler, failureDomain: b }
    - { name: exec-1, address: 127.0.0.1, port: 1, profile: executor-cpu, failureDomain: a }
    - { name: exec-2, address: 127.0.0.1, port: 1, profile: executor-io, failureDomain: a }
    - { name: exec-3, address: 127.0.0.1, port: 1, profile: executor-io, failureDomain: b }
    - { name: store-1, address: 127.0.0.1, port: 1, profile: record-store }
`,
  );
  return folder;
}

test("list and show say what there is, and with an inventory on which hosts", async () => {
  const list = await runEscapement(["playbook", "list", "--json"]);
  expect(JSON.parse(list.stdout).playbooks.map((one: { name: string }) => one.name)).toContain("bootstrap");
  const plain = await runEscapement(["playbook", "show", "upgrade"]);
  expect(plain.stdout).toMatch(
    /├─ schedulers {2}.*\[medium\]\n│ {5}where {4}every scheduler, the leading one last, one by one, 5s apart/,
  );
  const named = await runEscapement(["playbook", "show", "bootstrap", "-i", join(site(), "inventory.yaml")]);
  expect(named.stdout).toContain("every executor: exec-1 + exec-2  →  exec-3");
  expect(named.stdout).toContain("every watchman: none here");
  expect(named.stdout).toMatch(/└─ proof/);
});

test("what is asked for wrongly is a usage error that says what there is", async () => {
  const inventory = join(site(), "inventory.yaml");
  const run = (...args: string[]) => runEscapement(["playbook", "run", ...args, "-i", inventory, "--yes"]);
  expect(await run("bootstrp")).toMatchObject({
    code: 64,
    stderr: expect.stringContaining("did you mean bootstrap?"),
  });
  expect(await run("drain-host")).toMatchObject({
    code: 64,
    stderr: expect.stringContaining("exactly one host"),
  });
  expect(await run("upgrade", "--host", "exec-1")).toMatchObject({ code: 64 });
  expect(await run("drain-host", "--host", "exec-9")).toMatchObject({
    code: 64,
    stderr: expect.stringContaining("exec-9"),
  });
  expect(await run("upgrade", "--from", "nowhere")).toMatchObject({
    code: 64,
    stderr: expect.stringContaining("it has healthy, toolkit"),
  });
});

test("without a terminal and without --yes nothing is changed", async () => {
  const folder = site();
  const refused = await runEscapement(["playbook", "run", "upgrade", "-i", join(folder, "inventory.yaml")]);
  expect(refused).toMatchObject({ code: 4, stderr: expect.stringContaining("--yes") });
  expect(existsSync(join(folder, ".escapement"))).toBe(false);
});

test("hosts that cannot be reached fail the first step, each with its reason; a dry run knows nothing and writes nothing", async () => {
  const folder = site();
  const inventory = join(folder, "inventory.yaml");
  const dry = await runEscapement(["playbook", "run", "bootstrap", "-i", inventory, "--dry-run", "--json"]);
  expect(dry.code).toBe(0);
  const steps = JSON.parse(dry.stdout).steps as { step: string; would: string; because: string }[];
  // What the inventory has no setting for is settled; all else is not known, which is not a yes.
  expect(steps.filter((one) => one.would !== "do").map((one) => one.step)).toEqual(["address", "proof"]);
  expect(existsSync(join(folder, ".escapement"))).toBe(false);
  const failed = await runEscapement(["playbook", "run", "bootstrap", "-i", inventory, "--yes", "--json"]);
  expect(failed.code).toBe(1);
  const result = JSON.parse(failed.stdout);
  expect(result).toMatchObject({ outcome: "failed", resumed: false });
  expect(result.units).toHaveLength(6);
  expect(readFileSync(result.journal, "utf8").trim().split("\n")).toHaveLength(1 + 6 + 6 + 1);
  const again = await runEscapement(["playbook", "run", "bootstrap", "-i", inventory, "--yes", "--json"]);
  expect(JSON.parse(again.stdout)).toMatchObject({ resumed: true, run: result.run });
});

test("a wrong playbook is bad data with its place", async () => {
  const folder = site();
  writeFileSync(
    join(folder, "own.yaml"),
    "apiVersion: escapement/v1\nkind: Playbook\nmetadata: { name: own }\nspec:\n  description: x\n  target: cluster\n  steps:\n    - { id: a, title: A, hosts: {}, risk: low, action: { do: fly } }\n",
  );
  const shown = await runEscapement(["playbook", "show", "own", "--playbooks", join(folder, "own.yaml")]);
  expect(shown.code).toBe(65);
  expect(shown.stderr).toMatch(/own\.yaml:8:\d+ {2}spec\.steps\[0\]\.action\.do is not an action/);
});

test("one run at a time; a lock of a process that is gone is taken over", () => {
  const folder = site();
  const file = journalFile(join(folder, "inventory.yaml"), "drain-host", ["exec-1"]);
  expect(file).toBe(join(folder, ".escapement/playbooks/drain-host.exec-1.jsonl"));
  const letGo = lockJournal(file);
  expect(() => lockJournal(file)).toThrow(/runs this playbook already/);
  letGo();
  mkdirSync(join(file, ".."), { recursive: true });
  // A process of that number lives, but it is another one.
  writeFileSync(`${file}.lock`, `${process.pid} 1\n`);
  lockJournal(file)();
  writeFileSync(`${file}.lock`, "999999999 5\n");
  lockJournal(file)();
  expect(existsSync(`${file}.lock`)).toBe(false);
});
