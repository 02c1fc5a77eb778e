import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { HostFacts } from "../../../src/hardware/host-facts.ts";
import { hostPaths } from "../../../src/provision/bundle/probe.ts";
import { Reading } from "../../../src/provision/bundle/reading.ts";
import { factCache } from "../../../src/provision/plan/fact-cache.ts";
import { type Described, planOne } from "../../../src/provision/plan/fleet-plan.ts";
import { planHost } from "../../../src/provision/plan/host-plan.ts";
import { planDocument, planFromFile, readPlanFile } from "../../../src/provision/plan/plan-file.ts";
import type { Remote } from "../../../src/remote/remote.ts";
import { localShell } from "../support/local-remote.ts";
import { file } from "../support/resources.ts";

let folder = "";
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), "escapement-plan-"))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const facts = { hostName: { known: "h1" } } as unknown as HostFacts;
const described: Described = {
  resources: [file("/etc/a", "secret words", { secret: true, mode: 0o600 })],
  notes: [],
};
const observed = [
  "stat: cannot statx '/etc/a': No such file or directory",
  "end\tpath\t0",
  "host\tboot\t~\t1\t2",
];

/** As it is after the way through a file. */
async function written(change: (text: string) => string = (text) => text) {
  const plan = planHost("h1", described.resources, new Reading(observed, hostPaths()));
  const host = planDocument({ host: "h1", durationMs: 1, status: "ok", value: { plan, facts, notes: [] } });
  const document = {
    kind: "Plan",
    planVersion: 1,
    toolVersion: "0",
    madeAt: "2026-01-01T00:00:00Z",
    hosts: [host],
  };
  const path = join(folder, "plan.json");
  writeFileSync(path, change(JSON.stringify(document)));
  return { plan, text: JSON.stringify(document), entry: (await readPlanFile(path)).hosts[0]! };
}

test("a plan comes back from its file the same, and the file has no secret in it", async () => {
  const { plan, text, entry } = await written();
  expect(text).not.toContain("secret words");
  const back = planFromFile(entry, () => described);
  expect(back.plan.entries).toEqual(plan.entries);
  expect(back.plan.reading.lines).toEqual(plan.reading.lines);
});

test("a plan is refused when the definitions changed, when it was edited, and when it is none", async () => {
  const { entry } = await written();
  const other = () => ({ ...described, resources: [file("/etc/a", "other words", { secret: true })] });
  expect(() => planFromFile(entry, other)).toThrow(/has changed since the plan was made/);
  const { entry: edited } = await written((text) => text.replace("statx '/etc/a'", "statx '/etc/b'"));
  expect(() => planFromFile(edited, () => described)).toThrow(/was edited/);
  await expect(written((text) => text.replace('"planVersion":1', '"planVersion":2'))).rejects.toThrow(
    /no plan of this version/,
  );
  await expect(written((text) => text.slice(0, 50))).rejects.toMatchObject({ exitCode: 65 });
  await expect(readPlanFile(join(folder, "none.json"))).rejects.toMatchObject({ code: "E_FILE_UNREADABLE" });
});

test("facts serve again within the same boot, and are gathered anew after another", async () => {
  let gathered = 0;
  const shell = localShell("h1");
  const remote: Remote = {
    ...shell,
    exec: async (request) => {
      if (String(request.stdin).includes("escapement-facts")) gathered++;
      return shell.exec(request);
    },
  };
  const cache = factCache(folder, "inventory", 60_000);
  const describe = () => ({ resources: [file(join(folder, "x"), "x")], notes: [] });
  const first = await planOne(remote, { describe, cache });
  expect(gathered).toBe(1);
  await planOne(remote, { describe, cache });
  expect(gathered).toBe(1);
  await planOne(remote, { describe, cache: factCache(folder, "inventory", -1) });
  expect(gathered).toBe(2);
  await cache.put("h1", {
    ...first.facts,
    os: { ...first.facts.os, bootId: { known: "another boot" } },
  } as HostFacts);
  await planOne(remote, { describe, cache });
  expect(gathered).toBe(3);
});

test("a profile that says it does not fit the host is refused", async () => {
  const notes = [{ severity: "error", text: "too small" }] as const;
  await expect(planOne(localShell("h1"), { describe: () => ({ resources: [], notes }) })).rejects.toThrow(
    /h1: too small/,
  );
});

test("a plan file with a host twice, without hosts, or with facts that are none is refused", async () => {
  await expect(written((text) => text.replace(/"hosts":\[(.*)\]\}$/, '"hosts":[$1,$1]}'))).rejects.toThrow(
    /has a host twice/,
  );
  await expect(written((text) => text.replace(/"hosts":\[.*\]\}$/, '"hosts":[]}'))).rejects.toThrow(/hosts/);
  const { entry } = await written();
  const strict = () => {
    throw new TypeError("cannot read properties of undefined");
  };
  expect(() => planFromFile(entry, strict)).toThrow(/facts in the plan file are not those of a host/);
});
