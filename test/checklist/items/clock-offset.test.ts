import { describe, expect, it } from "vitest";
import { sleep } from "../../../src/base/monotonic.ts";
import type { CheckContext, CheckedDefinitions, HostProbe } from "../../../src/checklist/context.ts";
import { clockOffset } from "../../../src/checklist/items/10-clock-offset.ts";
import { clockCommand } from "../../../src/checklist/items/host-clock.ts";
import type { WatchDefinition } from "../../../src/spec/watch-definition.ts";
import { type Answers, clockText, goodHosts, keyOf } from "../fake-host.ts";
import { contextOf, definitionsOf } from "../good-cluster.ts";
import { goodDomains, goodWatch } from "../good-files.ts";
import { changed, context, db, resultOf, verdicts } from "../item-scene.ts";

const watchWith = (change: Partial<WatchDefinition>): Partial<CheckedDefinitions> => ({
  watch: { definition: { ...goodWatch, ...change }, file: "watch.yaml", line: 1 },
});
const onHost = (name: string, answers: Answers) => ({ hosts: goodHosts({ [name]: answers }) });

const hostsPass = Object.fromEntries(Object.keys(goodDomains).map((name) => [name, "pass"]));

describe("item 10", () => {
  const all = { payments: "pass", ...hostsPass };
  it("passes", async () => {
    expect(await verdicts(clockOffset)).toEqual(all);
  });

  it.each([
    [
      "one clock is off",
      "UPDATE escapement.executor SET offset_ms = 400 WHERE node = 'executor-1'",
      "exec-1",
      "fail",
      /\+400.0 ms off/,
    ],
    [
      "it measures nothing",
      "UPDATE escapement.scheduler SET offset_ms = NULL WHERE node = 'scheduler-2'",
      "sched-2",
      "unknown",
      /has not measured/,
    ],
    [
      "its measurement is old",
      "UPDATE escapement.executor SET lease_until = lease_until - interval '1 hour' WHERE node = 'executor-2'",
      "exec-2",
      "unknown",
      /measured its clock 36\d\d s ago/,
    ],
    [
      "two clocks are apart",
      "UPDATE escapement.executor SET offset_ms = CASE node WHEN 'executor-1' THEN -60 ELSE 60 END",
      "payments",
      "fail",
      /exec-1 and exec-2 are 120 ms apart/,
    ],
    [
      "two processes of one host differ",
      `UPDATE escapement.executor SET host = 'exec-1', offset_ms = CASE node WHEN 'executor-1' THEN -60 ELSE 60 END`,
      "exec-1",
      "unknown",
      /differ by 120 ms on one clock/,
    ],
    [
      "a process of a host whose clock another one sees within the limit says it is off",
      `UPDATE escapement.executor SET host = 'exec-1', offset_ms = CASE node WHEN 'executor-1' THEN 320 ELSE 10 END`,
      "exec-1",
      "unknown",
      /executor-1 says \+320\.0 ms, but executor executor-2 on the same host 10\.0 ms/,
    ],
    [
      "every process of a host says that it is off",
      `UPDATE escapement.executor SET host = 'exec-1', offset_ms = CASE node WHEN 'executor-1' THEN 320 ELSE 290 END`,
      "exec-1",
      "fail",
      /\+320.0 ms off/,
    ],
    ["nobody measures", "DELETE FROM escapement.executor", "payments", "unknown", /no executor measures/],
  ])("%s", async (_, sql, scope, verdict, message) => {
    expect(await changed(clockOffset, sql, scope)).toMatchObject({
      verdict,
      message: expect.stringMatching(message),
    });
  });

  it("does not call two processes of one host two clocks apart", async () => {
    const oneHost = `UPDATE escapement.scheduler SET host = 'vm', offset_ms = 0;
      UPDATE escapement.executor SET host = 'vm', offset_ms = CASE node WHEN 'executor-1' THEN -20 ELSE 300 END`;
    expect(await changed(clockOffset, oneHost)).toMatchObject({
      verdict: "pass",
      message: expect.stringMatching(/all that measure are on vm/),
    });
  });

  it("needs hosts to ask, and two clocks to compare", async () => {
    expect(await verdicts(clockOffset, context({ hosts: [] }))).toMatchObject({ payments: "unknown" });
    const old = await changed(
      clockOffset,
      "UPDATE escapement.executor SET offset_ms = NULL; UPDATE escapement.scheduler SET offset_ms = NULL WHERE node = 'scheduler-2'",
    );
    expect(old).toMatchObject({
      verdict: "unknown",
      message: expect.stringMatching(/^1 clock\(s\) were measured/),
    });
  });

  it("measures for itself", async () => {
    const off = context(onHost("exec-1", { [keyOf(clockCommand)]: () => clockText(5_000) }));
    expect(await verdicts(clockOffset, off)).toEqual({ ...all, "exec-1": "fail" });
    const silent = context(onHost("exec-1", { [keyOf(clockCommand)]: new Error("no route") }));
    expect(await verdicts(clockOffset, silent)).toEqual({ ...all, "exec-1": "unknown" });
    const coarse = context(onHost("exec-1", { [keyOf(clockCommand)]: "1790000000.N\n" }));
    expect(await verdicts(clockOffset, coarse)).toEqual({ ...all, "exec-1": "unknown" });
  });

  /** What it says of the clock of exec-1 that it measured. */
  async function measured(of: CheckContext) {
    let commands = 0;
    const hosts = of.hosts
      .filter(({ name }) => name === "exec-1")
      .map(
        (host): HostProbe => ({
          ...host,
          exec: (argv, how) => {
            commands++;
            return host.exec(argv, how);
          },
        }),
      );
    const all = await clockOffset.check({ ...of, hosts });
    const message = /measured from here it is .*|the trip was too slow.*/;
    const { verdict, ...found } = all.find(({ scope }) => scope.name === "exec-1")!;
    const [text = "nothing"] = message.exec(found.message) ?? [];
    const [, offsetMs, errorMs] = /(-?[\d.]+) ± ([\d.]+) ms/.exec(text)?.map(Number) ?? [];
    return { verdict, text, offsetMs, errorMs, commands };
  }

  /** @param takesMs before the answers with these numbers the clock is read, and after them the answer comes */
  function slowHost(takesMs: (answer: number) => number, offsetMs = 0, change: Partial<CheckContext> = {}) {
    let answers = 0;
    const say = async () => {
      const ms = takesMs(++answers);
      await sleep(ms / 2);
      const text = clockText(offsetMs);
      await sleep(ms / 2);
      return text;
    };
    const of = { ...context(onHost("exec-1", { [keyOf(clockCommand)]: say })), ...change };
    return { of, answers: () => answers };
  }

  it("believes the shortest trip of a dialogue, whatever the start of the command took", async () => {
    const { of, answers } = slowHost((answer) => (answer === 1 ? 1_500 : 0));
    const found = await measured(of);
    expect(found).toMatchObject({ verdict: "pass", commands: 1 });
    expect(found.errorMs).toBeLessThan(100);
    expect(answers()).toBeGreaterThan(1);
  });

  it.each([
    ["wider than the limit", 0, 250, "unknown"],
    ["near the limit, within it", 60, 150, "unknown"],
    ["near the limit, beyond it", 150, 150, "unknown"],
    ["a clock that is off by more than the trip", 1_000, 250, "fail"],
  ])("is not taken in by slow trips: %s", async (_, offsetMs, takesMs, verdict) => {
    const { of, answers } = slowHost(() => takesMs, offsetMs, { itemTimeoutMs: 1 });
    const found = await measured(of);
    expect(found).toMatchObject({ verdict });
    expect(found.errorMs).toBeGreaterThanOrEqual(takesMs / 2);
    if (verdict === "unknown") expect(found.text).toMatch(/^the trip was too slow to tell: \S+ ± \S+ ms/);
    expect(answers()).toBeGreaterThan(4);
  });

  it("looks again while the host is too busy for any trip to tell", async () => {
    const { of, answers } = slowHost((answer) => (answer <= 8 ? 300 : 0));
    expect(await measured(of)).toMatchObject({ verdict: "pass" });
    expect(answers()).toBeGreaterThan(8);
  });

  it("fails when its rule is off; is unknown without a watch file and without a store", async () => {
    const off = context({ definitions: watchWith({ rules: { "clock-offset": { enabled: false } } }) });
    expect(await verdicts(clockOffset, off)).toEqual({ ...all, payments: "fail" });
    const low = context({
      definitions: watchWith({ rules: { "clock-step": { enabled: true, severity: "info" } } }),
    });
    expect(await resultOf(clockOffset, "payments", low)).toMatchObject({
      verdict: "fail",
      message: expect.stringMatching(/clock-step is lowered to info/),
    });
    const silenced = await changed(
      clockOffset,
      `INSERT INTO escapement.silence (match, until, reason, person)
       VALUES ('{"rule":["clock-*"]}', clock_timestamp() + interval '1 day', 'noise', 'sam')`,
    );
    expect(silenced).toMatchObject({
      verdict: "fail",
      message: expect.stringMatching(
        /what clock-offset finds is told to nobody now: silence of rule clock-\*/,
      ),
    });
    const { watch: _, ...rest } = definitionsOf("/nowhere");
    expect(await verdicts(clockOffset, contextOf(db, { definitions: rest, hosts: goodHosts() }))).toEqual({
      ...all,
      payments: "unknown",
    });
    expect(new Set(Object.values(await verdicts(clockOffset, context({ store: "gone" }))))).toEqual(
      new Set(["unknown"]),
    );
  });
});
