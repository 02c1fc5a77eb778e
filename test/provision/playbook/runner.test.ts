/** Order, guards, requirements, verification, interruption, resuming, undoing. */
import { existsSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { previewPlaybook } from "../../../src/provision/playbook/preview.ts";
import { idleTargets } from "../../../src/provision/playbook/select-hosts.ts";
import { undoPlaybook } from "../../../src/provision/playbook/undo.ts";
import { allOn, PlaybookBench } from "./bench.ts";
import { fakeHosts } from "./fake-world.ts";

const deedsOf = (bench: PlaybookBench) => bench.world.state.deeds;

test("steps go in order, hosts one by one or a domain at a time; a second run does nothing but what has no guard", async () => {
  const bench = await PlaybookBench.open();
  const result = await bench.run();
  expect(result).toMatchObject({ outcome: "done", resumed: false });
  expect(deedsOf(bench)).toEqual([
    "on sched-1/a",
    "on sched-2/a",
    "on exec-1/b",
    "on exec-2/b",
    "on exec-3/b",
    "on sched-1/c",
  ]);
  const began = bench.events.flatMap((event) =>
    event.event === "begin" || event.event === "end" ? [`${event.event} ${event.host}`] : [],
  );
  // Both hosts of rack-1 at once, then rack-2.
  expect(began.slice(4, 10)).toEqual([
    "begin exec-1",
    "begin exec-2",
    expect.stringMatching(/^end exec-[12]$/),
    expect.stringMatching(/^end exec-[12]$/),
    "begin exec-3",
    "end exec-3",
  ]);
  const again = await bench.run();
  expect(again).toMatchObject({ outcome: "done", resumed: false });
  expect(again.units.map((unit) => unit.outcome)).toEqual([...Array(5).fill("skipped"), "done"]);
});

test("a dry run changes nothing, not even the journal", async () => {
  const bench = await PlaybookBench.open();
  bench.world.change((state) => state.on.push("sched-1/a"));
  const before = JSON.stringify(bench.world.state);
  const previews = await previewPlaybook(bench.options());
  expect(previews.map(({ step, host, would }) => `${step} ${host} ${would}`)).toEqual([
    "schedulers sched-1 skip",
    "schedulers sched-2 do",
    "executors exec-1 do",
    "executors exec-2 do",
    "executors exec-3 do",
    "last sched-1 do",
  ]);
  expect(JSON.stringify(bench.world.state)).toBe(before);
  expect(existsSync(bench.journalFile)).toBe(false);
});

test("a failed host ends the run before the next group; mended, the run goes on where it stopped", async () => {
  const bench = await PlaybookBench.open();
  let isBroken = true;
  bench.world.interfere = (what) => {
    if (isBroken && what === "before on exec-2/b") throw new Error("no route to host");
  };
  const first = await bench.run();
  expect(first.outcome).toBe("failed");
  // The other host of its domain was on its way and ends; the other domain is not touched.
  expect(bench.world.state.on).toEqual(["exec-1/b", "sched-1/a", "sched-2/a"]);
  expect(first.units.at(-1)).toMatchObject({
    host: "exec-2",
    outcome: "failed",
    because: "no route to host",
  });
  isBroken = false;
  const second = await bench.run();
  expect(second).toMatchObject({ outcome: "done", resumed: true, run: first.run });
  expect(second.units.map((unit) => unit.host)).toEqual(["exec-2", "exec-3", "sched-1"]);
  expect(bench.world.state.on).toEqual(allOn);
  expect(new Set(deedsOf(bench)).size).toBe(deedsOf(bench).length);
});

test("it is taken up from every step at which it can fail, and nothing is done twice", async () => {
  const all = ["sched-1/a", "sched-2/a", "exec-1/b", "exec-2/b", "exec-3/b", "sched-1/c"];
  for (const when of ["before", "after"]) {
    for (const victim of all) {
      const bench = await PlaybookBench.open();
      let isBroken = true;
      bench.world.interfere = (what) => {
        if (!isBroken || what !== `${when} on ${victim}`) return;
        throw new Error("lost");
      };
      expect((await bench.run()).outcome, victim).toBe("failed");
      isBroken = false;
      expect((await bench.run()).outcome, victim).toBe("done");
      expect(bench.world.state.on, victim).toEqual(allOn);
      // Only the step that has no guard cannot know that it was done.
      const twice = when === "after" && victim === "sched-1/c" ? 1 : 0;
      expect(deedsOf(bench).length, victim).toBe(all.length + twice);
    }
  }
});

test("a requirement that is not met, or cannot be looked at, ends the run before the deed", async () => {
  for (const [check, because] of [
    ["is-on", "requires is-on: no, a is off; nothing was done"],
    ["cannot-look", "requires cannot-look: unknown, the light is out; nothing was done"],
    ["throws", "requires throws: unknown, broken lamp; nothing was done"],
  ]) {
    const bench = await PlaybookBench.open((text) =>
      text.replace(
        "guard: { check: is-on, with: { name: b } }",
        `requires: [{ check: ${check}, with: { name: a } }]`,
      ),
    );
    const result = await bench.run();
    expect(result.units.at(-1)).toMatchObject({ outcome: "failed", because });
    expect(deedsOf(bench)).toEqual(["on sched-1/a", "on sched-2/a"]);
  }
});

test("a guard that cannot look skips nothing; a verification that cannot look passes nothing", async () => {
  const guard = await PlaybookBench.open((text) =>
    text.replaceAll(/guard: \{ check: is-on/g, "guard: { check: cannot-look"),
  );
  expect(await guard.run()).toMatchObject({ outcome: "done" });
  const verify = await PlaybookBench.open((text) =>
    text.replace(
      "verify: { check: is-on, with: { name: a }, within: 1s }",
      "verify: { check: cannot-look, with: { name: a }, within: 100ms }",
    ),
  );
  const result = await verify.run();
  expect(result.units).toMatchObject([
    { host: "sched-1", outcome: "failed", because: "cannot-look: unknown, the light is out" },
  ]);
});

test("a verification waits for its yes", async () => {
  const bench = await PlaybookBench.open((text) =>
    text.replace(
      "action: { do: turn-on, with: { name: c } }",
      "action: { do: turn-on, with: { name: c } }\n      verify: { check: is-on, with: { name: later }, within: 20s }",
    ),
  );
  bench.world.interfere = (what) => {
    if (what !== "after on sched-1/c") return;
    setTimeout(() => bench.world.change((state) => state.on.push("sched-1/later")), 300);
  };
  expect(await bench.run()).toMatchObject({ outcome: "done" });
});

test("a signal ends the run after the deed in hand; the next run goes on", async () => {
  const bench = await PlaybookBench.open();
  bench.world.interfere = (what) => {
    if (what === "after on sched-2/a") bench.stop.abort();
  };
  const result = await bench.run();
  expect(result.outcome).toBe("interrupted");
  expect(bench.world.state.on).toEqual(["sched-1/a", "sched-2/a"]);
  const next = await bench.run({ signal: new AbortController().signal });
  expect(next).toMatchObject({ outcome: "done", resumed: true });
  expect(deedsOf(bench)).toHaveLength(6);
});

test("--from begins at a step, --fresh at the first; a changed playbook is not taken up", async () => {
  const bench = await PlaybookBench.open();
  expect(await bench.run({ from: "last" })).toMatchObject({ outcome: "done", resumed: false });
  expect(deedsOf(bench)).toEqual(["on sched-1/c"]);
  await expect(bench.run({ from: "none" })).rejects.toMatchObject({ code: "E_USAGE" });
  bench.world.interfere = (what) => {
    if (what === "before on exec-1/b") throw new Error("lost");
  };
  await bench.run();
  const changed = { ...bench.playbook, digest: "other" };
  await expect(bench.run({ playbook: changed })).rejects.toMatchObject({ code: "E_REFUSED" });
  bench.world.interfere = () => {};
  expect(await bench.run({ playbook: changed, fresh: true })).toMatchObject({
    outcome: "done",
    resumed: false,
  });
});

test("a run is bound to the machines it was begun with", async () => {
  const bench = await PlaybookBench.open();
  bench.world.interfere = (what) => {
    if (what === "before on exec-1/b") throw new Error("lost");
  };
  await bench.run();
  bench.world.interfere = () => {};
  const elsewhere = { inventoryDigest: "six others" };
  const refused = { code: "E_REFUSED", message: expect.stringContaining("other hosts or addresses") };
  const deeds = deedsOf(bench).length;
  await expect(bench.run(elsewhere)).rejects.toMatchObject({
    ...refused,
    hint: expect.stringContaining("--fresh"),
  });
  await expect(previewPlaybook(bench.options(elsewhere))).rejects.toMatchObject(refused);
  await expect(undoPlaybook(bench.options(elsewhere))).rejects.toMatchObject(refused);
  expect(deedsOf(bench)).toHaveLength(deeds);
  // What stands in the world already is found by the guards.
  expect(await bench.run({ ...elsewhere, fresh: true })).toMatchObject({ outcome: "done", resumed: false });
  expect(deedsOf(bench)).toHaveLength(6);
});

test("undoing goes from the last deed to the first, over a failed run as well", async () => {
  const bench = await PlaybookBench.open();
  await expect(undoPlaybook(bench.options())).rejects.toMatchObject({ code: "E_REFUSED" });
  bench.world.interfere = (what) => {
    if (what === "after on exec-3/b") throw new Error("lost");
  };
  await bench.run();
  bench.world.change((state) => {
    state.deeds = [];
  });
  expect(await undoPlaybook(bench.options())).toMatchObject({ outcome: "undone" });
  expect(deedsOf(bench)).toEqual([
    "off exec-3/b",
    expect.stringMatching(/^off exec-[12]\/b$/),
    expect.stringMatching(/^off exec-[12]\/b$/),
    "off sched-2/a",
    "off sched-1/a",
  ]);
  expect(bench.world.state.on).toEqual([]);
  await expect(undoPlaybook(bench.options())).rejects.toMatchObject({ code: "E_REFUSED" });
  // What was taken back is not taken for done.
  bench.world.interfere = () => {};
  expect(await bench.run()).toMatchObject({ outcome: "done", resumed: false });
  expect(bench.world.state.on).toEqual(allOn);
});

test("an undo that fails is taken up where it stopped", async () => {
  const bench = await PlaybookBench.open();
  await bench.run();
  let isBroken = true;
  bench.world.interfere = (what) => {
    if (isBroken && what === "before off sched-2/a") throw new Error("lost");
  };
  expect(await undoPlaybook(bench.options())).toMatchObject({ outcome: "failed" });
  isBroken = false;
  bench.world.change((state) => {
    state.deeds = [];
  });
  expect(await undoPlaybook(bench.options())).toMatchObject({ outcome: "undone" });
  expect(deedsOf(bench)).toEqual(["off sched-2/a", "off sched-1/a"]);
});

test("targets, others, and the leading scheduler last", async () => {
  const bench = await PlaybookBench.open((text) =>
    text
      .replace("target: cluster", "target: one-host")
      .replace("hosts: { role: executor }", "hosts: { role: executor, pick: target }")
      .replace("hosts: { role: scheduler }", "hosts: { role: scheduler, order: standby-first }")
      .replace("hosts: { role: scheduler, pick: first }", "hosts: { role: executor, pick: others }"),
  );
  await bench.run({ targets: [fakeHosts[3]!], standbyFirst: async (hosts) => hosts.toReversed() });
  expect(deedsOf(bench)).toEqual([
    "on sched-2/a",
    "on sched-1/a",
    "on exec-2/b",
    "on exec-1/c",
    "on exec-3/c",
  ]);
});

test("what goes into the journal holds no password", async () => {
  const bench = await PlaybookBench.open();
  bench.world.interfere = () => {
    throw new Error("cannot reach postgresql://login:hunter2@store/escapement");
  };
  await bench.run();
  const text = readFileSync(bench.journalFile, "utf8");
  expect(text).toContain("postgresql://login:***@store");
  expect(text).not.toContain("hunter2");
});

test("a target that no step is about is found, so that nothing done is not taken for done", () => {
  const step = (role: string, pick: string) => ({ hosts: { role, pick, order: "as-listed" } }) as never;
  const [scheduler, executor] = [
    { name: "s", roles: ["scheduler"], failureDomain: "a" },
    { name: "e", roles: ["executor"], failureDomain: "a" },
  ] as const;
  const drain = [step("executor", "target"), step("scheduler", "first")];
  expect(idleTargets(drain, [scheduler, executor])).toEqual([scheduler]);
  expect(idleTargets([...drain, step("any", "target")], [scheduler, executor])).toEqual([]);
});
