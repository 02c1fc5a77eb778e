import { existsSync, symlinkSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { type ApplyOptions, applyBundle } from "../../src/provision/bundle/apply-bundle.ts";
import { readBundle } from "../../src/provision/bundle/read-bundle.ts";
import { Reading } from "../../src/provision/bundle/reading.ts";
import {
  confirmBundle,
  revertBundle,
  rollbackBundle,
  settleAndReadBundle,
} from "../../src/provision/bundle/settle-bundle.ts";
import { type HostPlan, hasChanges, planHost } from "../../src/provision/plan/host-plan.ts";
import { probesOf } from "../../src/provision/plan/judge.ts";
import type { Resource } from "../../src/provision/resource.ts";
import { until } from "../support/until.ts";
import { FakeHost } from "./support/fake-host.ts";
import { localShell } from "./support/local-remote.ts";
import { directory, file, restart, unit } from "./support/resources.ts";

const hosts: FakeHost[] = [];
afterEach(() => {
  for (const host of hosts.splice(0)) host.remove();
});

function host(from?: FakeHost): FakeHost {
  const made = new FakeHost(from);
  hosts.push(made);
  return made;
}

async function plan(on: FakeHost, resources: readonly Resource[]): Promise<HostPlan> {
  const answer = await on.run(readBundle(probesOf(resources), { paths: on.paths, path: on.bin }));
  if ("lost" in answer) throw new Error(answer.lost);
  return planHost("h1", resources, new Reading(answer.facts, on.paths));
}

/** The result word, and everything the host said; "killed" where it said nothing. */
async function apply(on: FakeHost, planned: HostPlan, more: Partial<ApplyOptions> = {}): Promise<string[]> {
  const resources = planned.entries.map(({ resource }) => resource);
  const options = { id: "20260101T000000Z-a", confirmSeconds: 60, path: on.bin, ...more };
  const answer = await on.run(applyBundle(planned, probesOf(resources), options));
  return "lost" in answer ? ["killed"] : [...answer.facts];
}

const confirm = (on: FakeHost, id = "20260101T000000Z-a") =>
  on.run(confirmBundle(id, { paths: on.paths, path: on.bin }));

/** A host whose three files, link and two services all change. */
function old(): FakeHost {
  const on = host();
  on.write("/etc/one.conf", "one old\n", 0o600);
  on.write("/etc/gone.conf", "to be removed\n");
  on.write("/etc/real", "behind a link\n");
  symlinkSync("real", join(on.root, "etc/link.conf"));
  on.write("/etc/b.conf", "b old\n");
  on.service("one.service", "/etc/one.conf");
  on.service("two.service", "/etc/deep/er/two.conf", { file: "disabled", active: "inactive" });
  on.service("three.service", "/etc/b.conf");
  for (const path of ["etc/one.conf", "etc/gone.conf", "etc/b.conf"])
    utimesSync(join(on.root, path), 1_700_000_000, 1_700_000_000);
  return on;
}

const wanted: Resource[] = [
  directory("/etc/made", { mode: 0o750 }),
  file("/etc/one.conf", 'one new\nit\'s $HOME `x` \\ "q"\n', { restarts: [restart("one.service")] }),
  file("/etc/deep/er/two.conf", "two new\n", { mode: 0o640 }),
  file("/etc/link.conf", "no link any more\n"),
  file("/etc/gone.conf", "", { absent: true }),
  unit("two.service"),
  unit("three.service", { enabled: false, running: false }),
];

test("a plan names each change; apply makes them all; the second plan is empty", async () => {
  const on = old();
  const first = await plan(on, wanted);
  expect(first.entries.map(({ resource, judged }) => `${resource.id} ${judged.state}`)).toEqual([
    "directory:/etc/made missing",
    "file:/etc/one.conf diff",
    "file:/etc/deep/er/two.conf missing",
    "file:/etc/link.conf diff",
    "file:/etc/gone.conf diff",
    "unit:two.service diff",
    "unit:three.service diff",
  ]);
  expect(first.entries[1]!.judged).toMatchObject({
    lines: ["mode 0600 → 0644"],
    diff: expect.stringContaining("-one old\n+one new"),
  });
  expect(await apply(on, first)).toEqual(["result\tapplied\t"]);
  expect(on.timers()).toMatchObject({ "escapement-revert-20260101T000000Z-a-b.timer": "60" });
  expect(await confirm(on)).toEqual({ facts: ["result\tcommitted\t"] });
  expect(on.timers()).toEqual({});
  expect(on.text("/etc/one.conf")).toBe('one new\nit\'s $HOME `x` \\ "q"\n');
  expect(on.text("running/one.service")).toBe(on.text("/etc/one.conf"));
  expect(on.text("running/two.service")).toBe("two new\n");
  expect(existsSync(join(on.root, "running/three.service"))).toBe(false);
  expect(on.text("/etc/real")).toBe("behind a link\n");
  const second = await plan(on, wanted);
  expect(second.entries.filter(({ judged }) => judged.state !== "ok")).toEqual([]);
  expect(hasChanges(second)).toBe(false);
  expect(Object.keys(on.snapshot()).filter((path) => path.includes("escapement"))).toEqual([]);
});

test("rollback brings every byte back, and refuses when something has moved since", async () => {
  const on = old();
  const before = on.snapshot();
  await apply(on, await plan(on, wanted));
  await confirm(on);
  const options = { paths: on.paths, path: on.bin };
  on.write("/etc/deep/er/two.conf", "edited by hand\n", 0o640);
  expect(await on.run(rollbackBundle(undefined, false, options))).toMatchObject({
    facts: expect.arrayContaining([
      expect.stringContaining("two.conf"),
      expect.stringMatching(/^result\tmoved/),
    ]),
  });
  expect(await on.run(rollbackBundle(undefined, true, options))).toEqual({
    facts: ["result\trolled-back\t20260101T000000Z-a: 0 problem(s)"],
  });
  expect(on.snapshot()).toEqual(before);
  expect(await on.run(rollbackBundle(undefined, false, options))).toMatchObject({
    facts: [expect.stringMatching(/^result\tnone/)],
  });
});

test("a host that moved since the plan is left alone, and says what moved", async () => {
  const on = old();
  const planned = await plan(on, wanted);
  on.write("/etc/b.conf", "not ours\n");
  on.write("/etc/one.conf", "another hand\n", 0o600);
  const before = on.snapshot();
  const said = await apply(on, planned);
  expect(said.at(-1)).toMatch(/^result\tmoved/);
  expect(said.join("\n")).toContain("/etc/one.conf");
  expect(on.snapshot()).toEqual(before);
});

test("a validator that refuses, a service that does not start: all is put back", async () => {
  const bad = [
    file("/etc/one.conf", "bad\n", { restarts: [restart("one.service")] }),
    file("/etc/new.conf", "new\n"),
  ];
  const on = old();
  const before = on.snapshot();
  const validator = { name: "grep", argv: ["grep", "-q", "good", "{file}"] };
  const refused = await apply(on, await plan(on, [{ ...bad[0]!, validator }, bad[1]!]));
  expect(refused.at(-1)).toMatch(/^result\treverted\tgrep refuses \/etc\/one.conf/);
  expect(on.snapshot()).toEqual(before);
  on.write("/refuse-one.service", "");
  const failed = await apply(on, await plan(on, bad), { id: "20260101T000001Z-a" });
  expect(failed.at(-1)).toMatch(/^result\treverted\trestart one.service: one.service failed to start/);
  expect(on.snapshot()).toEqual(before);
  expect(on.text("running/one.service")).toBe("one old\n");
  expect(on.timers()).toEqual({});
});

test("nobody confirms: the timer puts all back; a late confirmation is told so", async () => {
  const on = old();
  const before = on.snapshot();
  await apply(on, await plan(on, wanted));
  await on.undo("timer");
  expect(on.snapshot()).toEqual(before);
  expect(await confirm(on)).toMatchObject({ facts: [expect.stringMatching(/^result\treverted/)] });
  expect(on.snapshot()).toEqual(before);
});

test("a runner that hangs in a restart is ended by the timer, with what it started", async () => {
  const on = old();
  const before = on.snapshot();
  const systemctl = on.text("bin/systemctl")!;
  const mark = `${on.root}/hanging`;
  on.program(
    "systemctl",
    systemctl.replace(
      "code=0\n",
      `code=0\n[ "$verb" != try-restart ] || { : >${mark}; exec sleep 54321; }\n`,
    ),
  );
  const running = apply(on, await plan(on, wanted));
  await until(() => existsSync(mark), { what: "the restart to hang" });
  await on.undo("timer");
  expect(await running).toEqual(["killed"]);
  expect(on.snapshot()).toEqual(before);
  const left = await localShell().exec({ argv: ["pgrep", "-f", "^sleep 54321$"], deadlineMs: 10_000 });
  expect(left.stdout).toBe("");
});

test("a confirmed change is not put back by a timer that comes late", async () => {
  const on = old();
  await apply(on, await plan(on, wanted));
  await confirm(on);
  const after = on.snapshot();
  await on.undo("timer");
  await on.undo("boot");
  expect(on.snapshot()).toEqual(after);
});

test("killed while it is being confirmed: wholly new, and it stays", async () => {
  for (const stopAt of [1, 2]) {
    const on = old();
    await apply(on, await plan(on, wanted));
    const id = "20260101T000000Z-a";
    const killed = await on.run(confirmBundle(id, { paths: on.paths, path: on.bin, stopAt }));
    expect(killed).toHaveProperty("lost");
    await (stopAt === 1 ? on.powerCycle() : on.undo("timer"));
    expect(on.text("/etc/deep/er/two.conf")).toBe("two new\n");
    expect(on.text("running/one.service")).toBe(on.text("/etc/one.conf"));
    expect(hasChanges(await plan(on, wanted))).toBe(false);
    expect(await confirm(on)).toEqual({ facts: ["result\tcommitted\t"] });
  }
});

test("while a change waits for its confirmation, others are refused", async () => {
  const on = old();
  const planned = await plan(on, wanted);
  await apply(on, planned);
  expect((await apply(on, planned, { id: "20260101T000001Z-a" })).at(-1)).toMatch(/^result\tbusy/);
  expect(await on.run(revertBundle("20260101T000000Z-a", { paths: on.paths, path: on.bin }))).toMatchObject({
    facts: [expect.stringMatching(/^result\treverted/)],
  });
  expect((await apply(on, planned, { id: "20260101T000001Z-a" })).at(-1)).toMatch(/^result\tapplied/);
});

test("a restart of the active scheduler waits on the host, and the next plan shows it", async () => {
  const on = old();
  const resources = [
    file("/etc/one.conf", "one new\n", {
      restarts: [restart("one.service", { unless: "active-scheduler" })],
    }),
  ];
  const said = await apply(on, await plan(on, resources), { activeScheduler: ["true"] });
  expect(said).toEqual(["deferred\tone.service\tthis host is the active scheduler", "result\tapplied\t"]);
  await confirm(on);
  expect(on.text("running/one.service")).toBe("one old\n");
  const next = await plan(on, resources);
  expect(next.restarts).toMatchObject([
    {
      unit: "one.service",
      pending: true,
      unless: "active-scheduler",
      reason: expect.stringContaining("active scheduler"),
    },
  ]);
  const options = { id: "20260101T000001Z-a", activeScheduler: ["false"] };
  expect(await apply(on, next, options)).toEqual(["result\tapplied\t"]);
  await confirm(on, options.id);
  expect(on.text("running/one.service")).toBe("one new\n");
  expect((await plan(on, resources)).restarts).toEqual([]);
});

test("a service older than its file is drift", async () => {
  const on = old();
  const resources = [file("/etc/one.conf", "one old\n", { mode: 0o600, restarts: [restart("one.service")] })];
  expect(hasChanges(await plan(on, resources))).toBe(false);
  const later = Date.now() / 1000 + 10;
  utimesSync(join(on.root, "etc/one.conf"), later, later);
  expect((await plan(on, resources)).restarts).toMatchObject([{ unit: "one.service", pending: false }]);
});

test("killed at every step, then met again, by the timer, or after a power cut: wholly old, no restart lost", async () => {
  const template = old();
  const before = template.snapshot();
  let steps = 0;
  for (let stopAt = 1, done = false; !done; stopAt++) {
    for (const way of ["contact", "timer", "power", "undo-killed"] as const) {
      if (way === "undo-killed" && stopAt % 3 !== 0) continue;
      const on = host(template);
      const stops = { stopAt, ...(way === "undo-killed" && { stopUndoAt: 1 + (stopAt % 9) }) };
      const said = await apply(on, await plan(on, wanted), stops);
      done = said[0] !== "killed";
      if (done) {
        expect(said).toEqual(["result\tapplied\t"]);
        break;
      }
      steps = stopAt;
      if (way === "timer" || way === "undo-killed") await on.undo("timer");
      if (way === "power") await on.powerCycle();
      if (way === "undo-killed") await stripUndoStop(on);
      if (way !== "timer") await meet(on);
      expect(on.snapshot(), `${way} after step ${stopAt}`).toEqual(before);
      if (stopAt % 7 === 0) {
        const again = await apply(on, await plan(on, wanted), { id: "20260101T000009Z-a" });
        expect(again.at(-1)).toMatch(/^result\tapplied/);
        expect(on.text("running/one.service")).toBe(on.text("/etc/one.conf"));
      }
      on.remove();
    }
  }
  console.log(`killed at each of ${steps} steps, three or four ways`);
  expect(steps).toBeGreaterThan(20);
}, 600_000);

/** The next contact. A change that was finished waits for its confirmation, and the timer for that. */
async function meet(on: FakeHost): Promise<void> {
  const answer = await on.run(settleAndReadBundle([], { paths: on.paths, path: on.bin }));
  if ("lost" in answer) throw new Error(answer.lost);
  if (answer.facts.at(-1)!.startsWith("result\tbusy")) await on.undo("timer");
}

async function stripUndoStop(on: FakeHost): Promise<void> {
  for (const id of on.transactions()) {
    const script = `/var/lib/escapement-apply/txn/${id}/undo.sh`;
    const text = on.text(script);
    if (text !== undefined) on.write(script, text.replace(/^ESC_UNDO_STOP_AT=.*$/m, "ESC_UNDO_STOP_AT="));
  }
}
