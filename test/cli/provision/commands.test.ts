/** plan, apply, verify, drift and rollback as people call them, on this machine as the only host. Nothing is changed on it. */
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { afterAll, beforeEach, expect, test } from "vitest";
import { runEscapement, startEscapement } from "../../support/processes.ts";

const folder = mkdtempSync(join(tmpdir(), "escapement-commands-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const inventory = join(folder, "inventory.yaml");
const profile = join(folder, "here.yaml");
const watched = join(folder, "watched.conf");
const { username } = userInfo();

const document = (kind: string, name: string, spec: unknown) =>
  `apiVersion: escapement/v1\nkind: ${kind}\nmetadata: { name: ${name} }\nspec: ${JSON.stringify(spec)}\n`;

interface Site {
  readonly text?: string;
  readonly hosts?: readonly Readonly<Record<string, unknown>>[];
  readonly resources?: readonly unknown[];
}

/** One file on this machine, which is as `writeFile` leaves it or not. */
function site({ text = "as it should be\n", hosts = [], resources = [] }: Site = {}): void {
  const here = { name: "here", address: "127.0.0.1", connection: "local", profile: "here" };
  writeFileSync(
    inventory,
    document("Inventory", "site", { defaults: { connectTimeout: "2s" }, hosts: [here, ...hosts] }),
  );
  const group = "root";
  const file = { kind: "file", path: watched, content: text, owner: username, group, mode: "0640" };
  writeFileSync(profile, document("HostProfile", "here", { resources: [file, ...resources] }));
}

beforeEach(() => {
  site();
  writeFileSync(watched, "as it should be\n");
  chmodSync(watched, 0o640);
});

const common = ["-i", inventory, "--profiles", profile];
const environment = { XDG_CACHE_HOME: join(folder, "cache"), SSH_AUTH_SOCK: undefined };
const escapement = (...words: string[]) => runEscapement(words, { environment });
const onSite = (...words: string[]) => escapement(...words, ...common);

/** Nobody listens there. */
const silent = { name: "silent", address: "127.0.0.1", port: 1, user: "nobody", profile: "here" };

test("nothing to do: 0 everywhere, and the JSON says so", async () => {
  const plan = await onSite("plan", "--exit-code", "--json");
  expect(plan.code, plan.stderr).toBe(0);
  expect(JSON.parse(plan.stdout)).toMatchObject({
    kind: "Plan",
    hosts: [{ host: "here", status: "planned" }],
  });
  const apply = await onSite("apply", "--yes", "--json");
  expect(apply.code).toBe(0);
  expect(JSON.parse(apply.stdout)).toMatchObject({
    schemaVersion: 1,
    hosts: [{ host: "here", status: "ok", result: "unchanged", changes: 0 }],
  });
  const verify = await onSite("verify", "--json");
  expect(verify.code).toBe(0);
  expect(JSON.parse(verify.stdout).hosts).toEqual([
    { host: "here", answer: "yes", right: 1, deviations: [] },
  ]);
});

test("something to do: plan 0, with --exit-code 2; verify 1; apply without a yes 4, and nothing is changed", async () => {
  writeFileSync(watched, "something else\n");
  expect((await onSite("plan")).code).toBe(0);
  const plan = await onSite("plan", "--exit-code", "--diff");
  expect(plan.code).toBe(2);
  expect(plan.stdout).toContain(`~ file:${watched}  content`);
  expect(plan.stdout).toContain("-something else");
  const verify = await onSite("verify", "--json");
  expect(verify.code).toBe(1);
  expect(JSON.parse(verify.stdout).hosts[0]).toMatchObject({
    answer: "no",
    deviations: [{ id: `file:${watched}`, answer: "no" }],
  });
  const apply = await onSite("apply");
  expect(apply.code).toBe(4);
  expect(apply.stderr).toContain("--yes");
  expect((await onSite("plan", "--exit-code")).code).toBe(2);
});

test("a plan file with a host that is gone, or of another inventory, is refused", async () => {
  const file = join(folder, "plan.json");
  expect((await onSite("plan", "-o", file)).code).toBe(0);
  writeFileSync(inventory, document("Inventory", "site", { hosts: [{ ...silent, connection: "local" }] }));
  const apply = await onSite("apply", file, "--yes");
  expect(apply.code).toBe(4);
  expect(apply.stderr).toContain("has here, which is no host");
});

test("a host that does not answer: plan 3 beside one that does, 69 alone; verify 5; apply leaves the other alone", async () => {
  site({ hosts: [silent] });
  const both = await onSite("plan", "--json");
  expect(both.code).toBe(3);
  expect(JSON.parse(both.stdout).hosts.map((one: { status: string }) => one.status)).toEqual([
    "planned",
    "unreachable",
  ]);
  expect((await onSite("plan", "silent")).code).toBe(69);
  const verify = await onSite("verify", "--json");
  expect(verify.code).toBe(5);
  expect(JSON.parse(verify.stdout).hosts[1]).toMatchObject({ host: "silent", answer: "unknown" });
  const apply = await onSite("apply", "--yes", "--json");
  // Not one host has got what it should.
  expect(apply.code).toBe(1);
  expect(JSON.parse(apply.stdout).hosts).toMatchObject([
    { host: "silent", status: "unreachable" },
    { host: "here", status: "skipped" },
  ]);
  expect((await onSite("apply", "--yes", "--keep-going")).code).toBe(3);
  expect((await escapement("rollback", "silent", "--yes", "-i", inventory)).code).toBe(69);
});

test("what is wrong in the files is 65 with its place, before any host is asked", async () => {
  site({ hosts: [{ ...silent, profile: "her" }] });
  const profiles = await onSite("plan");
  expect(profiles.code).toBe(65);
  expect(profiles.stderr).toMatch(/inventory\.yaml:4:\d+ .*"her".*here/);
  const after = ["file:/etc/nobody-has-it"];
  site({ resources: [{ kind: "group", name: "g", after }] });
  for (const command of ["plan", "apply", "verify", "drift"]) {
    const { code, stderr } = await onSite(command, ...(command === "apply" ? ["--yes"] : []));
    expect([command, code]).toEqual([command, 65]);
    expect(stderr).toMatch(/here\.yaml:4:\d+ .*group:g comes after file:\/etc\/nobody-has-it/);
  }
  writeFileSync(inventory, "apiVersion: escapement/v1\nkind: Inventory\nspec: {}\n");
  expect((await escapement("rollback", "here", "--yes", "-i", inventory)).code).toBe(65);
});

test("rollback asks, and without a terminal it takes nobody's word", async () => {
  const { code, stderr } = await escapement("rollback", "here", "-i", inventory);
  expect(stderr).toMatch(/the last change of here|here has no change that could be taken back/);
  expect(code).toBe(4);
  expect((await escapement("rollback", "her", "--yes", "-i", inventory)).stderr).toContain(
    "did you mean here",
  );
});

test("drift says what has changed since the last look, and a watch survives a broken inventory", async () => {
  const log = join(folder, "drift.jsonl");
  expect((await onSite("drift", "--log", log)).code).toBe(0);
  writeFileSync(watched, "something else\n");
  const second = await onSite("drift", "--log", log, "--json");
  expect(second.code).toBe(1);
  expect(JSON.parse(second.stdout)).toMatchObject({ changed: [{ host: "here", answer: "no" }] });

  const words = ["drift", "--log", log, "--watch", "--every", "1s", ...common];
  const watch = await startEscapement(words, { environment });
  await watch.seen(/next look in 1s/);
  writeFileSync(inventory, "apiVersion: escapement/v1\nkind: Inventory\nspec: {}\n");
  await watch.seen(/no look: .*inventory\.yaml/);
  site();
  writeFileSync(watched, "as it should be\n");
  chmodSync(watched, 0o640);
  await watch.seen(/here {2}as it should be/);
  watch.kill("SIGTERM");
  expect((await watch.exited).code).not.toBe(65);

  writeFileSync(inventory, "nothing\n");
  expect((await onSite("drift", "--log", log, "--watch")).code).toBe(65);
});
