import { existsSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { confirmBundle, revertBundle, rollbackBundle } from "../../src/provision/bundle/settle-bundle.ts";
import { hasChanges } from "../../src/provision/plan/host-plan.ts";
import { until } from "../support/until.ts";
import { localShell } from "./support/local-remote.ts";
import { file, restart, unit } from "./support/resources.ts";
import { apply, confirm, old, plan, wanted } from "./support/transactions.ts";

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

test("what a unit comes after has read its new files before the unit starts", async () => {
  const on = old();
  const said = await apply(
    on,
    await plan(on, [
      file("/etc/one.conf", "one new\n", { restarts: [restart("one.service")] }),
      unit("one.service", { after: ["file:/etc/one.conf"] }),
      unit("two.service", { after: ["unit:one.service"] }),
    ]),
  );
  expect(said).toEqual(["result\tapplied\t"]);
  const calls = on
    .text("log")!
    .split("\n")
    .filter((line) => /^(start|(try-)?restart) /.test(line));
  expect(calls).toEqual(["try-restart one.service", "start two.service"]);
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
