import { setTimeout } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import type { CheckedDefinitions } from "../../../src/checklist/context.ts";
import { clockOffset, dateCommand } from "../../../src/checklist/items/10-clock-offset.ts";
import type { WatchDefinition } from "../../../src/spec/watch-definition.ts";
import { type Answers, dateText, goodHosts, keyOf } from "../fake-host.ts";
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
    const off = context(onHost("exec-1", { [keyOf(dateCommand)]: () => dateText(5_000) }));
    expect(await verdicts(clockOffset, off)).toEqual({ ...all, "exec-1": "fail" });
    const silent = context(onHost("exec-1", { [keyOf(dateCommand)]: new Error("no route") }));
    expect(await verdicts(clockOffset, silent)).toEqual({ ...all, "exec-1": "unknown" });
    const coarse = context(onHost("exec-1", { [keyOf(dateCommand)]: "1790000000.N\n" }));
    expect(await verdicts(clockOffset, coarse)).toEqual({ ...all, "exec-1": "unknown" });
  });

  it("asks again where a trip was slow, and believes the shortest", async () => {
    let asked = 0;
    // Two seconds of waiting before the clock is read: the middle of the trip is a second too early.
    const slowAtFirst = async () => {
      if (asked++ === 0) await setTimeout(2_000);
      return dateText(0);
    };
    const busy = context(onHost("exec-1", { [keyOf(dateCommand)]: slowAtFirst }));
    expect(await verdicts(clockOffset, busy)).toEqual(all);
    expect(asked).toBeGreaterThan(1);
  });

  it("goes on asking while the host is too busy for any trip to tell", async () => {
    let asked = 0;
    const busyAtFirst = async () => {
      if (asked++ < 4) await setTimeout(300);
      return dateText(0);
    };
    const strict = watchWith({ thresholds: { ...goodWatch.thresholds, clockWarn: 20 } });
    const busy = context({
      ...onHost("exec-1", { [keyOf(dateCommand)]: busyAtFirst }),
      definitions: strict,
    });
    const answer = (await clockOffset.check(busy)).find(
      ({ scope, message }) => scope.name === "exec-1" && /measured from here/.test(message),
    );
    expect(answer).toMatchObject({ verdict: "pass" });
    expect(asked).toBe(5);
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
