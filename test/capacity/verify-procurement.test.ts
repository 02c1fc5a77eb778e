/** `escapement verify --procurement`: the sheet's own tests, on hosts of an inventory. */
import { mkdtempSync, rmdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, expect, onTestFinished, test } from "vitest";
import { runEscapement } from "../support/processes.ts";

interface Host {
  readonly host: string;
  readonly status: string;
  readonly counts?: { readonly pass: number; readonly fail: number; readonly unknown: number };
  readonly results?: readonly {
    readonly check: string;
    readonly status: string;
    readonly observed: string;
  }[];
}

let sheet: {
  readonly pages: readonly { readonly name: string; readonly requirements: readonly unknown[] }[];
};

beforeAll(async () => {
  sheet = JSON.parse((await runEscapement(["capacity", "sheet", "--json"])).stdout);
});

/** This machine, and one that is not there. */
function site(requirements: readonly object[] | undefined): { inventory: string; order: string } {
  const folder = mkdtempSync(join(tmpdir(), "procurement-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const inventory = join(folder, "inventory.yaml");
  writeFileSync(
    inventory,
    `apiVersion: escapement/v1
kind: Inventory
metadata: { name: site }
spec:
  hosts:
    - { name: here, address: localhost, profile: scheduler, failureDomain: a, connection: local }
    - { name: gone, address: 127.0.0.1, port: 9, profile: scheduler, failureDomain: b }
`,
  );
  const order = join(folder, "order.json");
  const pages = sheet.pages.map((page) => (requirements ? { ...page, requirements } : page));
  writeFileSync(order, JSON.stringify({ ...sheet, schemaVersion: 1, pages }));
  return { inventory, order };
}

const requirement = (check: string, value: number, unit: string) => ({
  id: check,
  text: `at least ${value} ${unit}`,
  why: "test",
  accept: { check, atLeast: "limit" },
  limit: { label: "limit", value, unit },
});

async function verify(names: readonly string[], files: ReturnType<typeof site>, ...more: string[]) {
  const { code, stdout, stderr } = await runEscapement([
    ...["verify", ...names, "--procurement", files.order, "-i", files.inventory, "--json", ...more],
  ]);
  return { code, stderr, hosts: stdout === "" ? [] : (JSON.parse(stdout) as { hosts: Host[] }).hosts };
}

test("every requirement of the role has a verdict, and a host that does not answer is no pass", async () => {
  const { hosts } = await verify([], site(undefined));
  const [here, gone] = hosts;
  expect(gone).toMatchObject({ host: "gone", status: "unreachable" });
  const page = sheet.pages.find(({ name }) => name === "scheduler")!;
  expect(here!.results).toHaveLength(page.requirements.length);
  expect(Object.values(here!.counts!).reduce((a, b) => a + b)).toBe(page.requirements.length);
});

test.each([
  ["pass", 0, [requirement("cores", 1, "cores"), requirement("disk-capacity", 1, "bytes")]],
  ["fail", 1, [requirement("cores", 1, "cores"), requirement("cores", 100_000, "cores")]],
  ["unknown", 5, [requirement("cores", 1, "cores"), requirement("flush-rate", 1, "/s")]],
] as const)("%s ends with %i", async (status, code, requirements) => {
  const done = await verify(["here"], site(requirements), "--folder", "/var/tmp");
  expect(done.hosts[0]!.results!.map((one) => one.status)).toEqual(["pass", status]);
  expect(done.code).toBe(code);
});

test("a host that cannot be asked ends with 5 where all others pass", async () => {
  expect((await verify([], site([requirement("cores", 1, "cores")]))).code).toBe(5);
});

test("--measure measures, and leaves nothing", async () => {
  const files = site([requirement("flush-rate", 1, "/s")]);
  const folder = mkdtempSync(join(tmpdir(), "measured-"));
  onTestFinished(() => rmdirSync(folder));
  const { hosts } = await verify(["here"], files, "--measure", "--folder", folder);
  const { status, observed } = hosts[0]!.results![0]!;
  // pg_test_fsync comes with Debian's PostgreSQL; without it the reason says so.
  expect([status, observed]).toEqual(
    status === "unknown"
      ? ["unknown", expect.stringContaining("pg_test_fsync")]
      : ["pass", expect.stringMatching(/\d flushes a second/)],
  );
});

test("a role that the sheet does not have, and a file that is no sheet", async () => {
  const files = site(undefined);
  expect((await verify(["here"], files, "--role", "nonsense")).code).toBe(64);
  expect((await verify(["here"], { ...files, order: files.inventory })).code).toBe(65);
});
