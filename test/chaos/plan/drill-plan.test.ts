/** What a run would do, in words and in the order that a host gets. */
import { describe, expect, test } from "vitest";
import { findingClasses } from "../../../src/chaos/checkers/finding.ts";
import { draftOrder } from "../../../src/chaos/plan/drill-order.ts";
import { planDrill, whereText, wouldBeRefused } from "../../../src/chaos/plan/drill-plan.ts";
import { drillTimes, leaseTimes, settleShortfall } from "../../../src/chaos/plan/drill-times.ts";
import { planText } from "../../../src/cli/drill/plan-text.ts";
import { loadDrills } from "../../../src/spec/resolve-drill.ts";
import { cut, hosts, kill, roles, variant } from "./cluster-example.ts";

const { drills } = await loadDrills(["chaos"], Object.keys(findingClasses));
const drill = (name: string) => drills.find(({ definition }) => definition.name === name)!;
const leases = leaseTimes({
  executor: { leaseMs: 15_000 },
  scheduler: { leaseMs: 15_000, maxSleepMs: 1_000 },
});
const settle = { minimumMs: 20_000, quietReads: 3, readEveryMs: 5_000, deadlineMs: 600_000 };

describe("times", () => {
  test("spans follow the leases of the cluster", () => {
    expect(leases).toEqual({ "executor-lease-and-reclaim": 18_000, "scheduler-lease-and-retry": 16_000 });
    expect(
      leaseTimes({ executor: { leaseMs: 2_000 }, scheduler: { leaseMs: 2_000, maxSleepMs: 1_000 } }),
    ).toEqual({ "executor-lease-and-reclaim": 5_000, "scheduler-lease-and-retry": 2_500 });
  });

  test.each([
    ["a time", { ms: 30_000 }, 30_000],
    ["a number of spans", { times: 3, of: "executor-lease-and-reclaim", atLeastMs: 10_000 }, 54_000],
    ["at least so long", { times: 1, of: "executor-lease-and-reclaim", atLeastMs: 30_000 }, 30_000],
    ["whole seconds, never shorter", { ms: 30_001 }, 31_000],
  ] as const)("a hold is %s", (_, hold, holdMs) => {
    const times = drillTimes(variant("executor", kill, { hold }), settle, leases);
    expect(times).toMatchObject({ holdMs, limitMs: holdMs + 15_000 });
  });

  test("the dead-men are at least five seconds after the hold", () => {
    const times = drillTimes(variant("executor", kill, { limitAfterHoldMs: 1 }), settle, leases);
    expect(times.limitMs).toBe(35_000);
  });

  test("settling outlasts the leases, and twice the hold of a cut", () => {
    expect(drillTimes(variant("executor", kill), settle, leases)).toMatchObject({
      settleMs: 20_000,
      expectedMs: 30_000 + 20_000 + 10_000,
    });
    expect(drillTimes(variant("executor", kill), { ...settle, minimumMs: 0 }, leases).settleMs).toBe(18_000);
    expect(drillTimes(variant("executor", cut), settle, leases).settleMs).toBe(60_000);
  });
});

describe("what needs longer than the drill may take to come to rest", () => {
  const { definition } = drill("cut-network");
  const shortfall = (holdMs: number, deadlineMs: number) =>
    settleShortfall(
      { ...definition, settle: { ...definition.settle, deadlineMs } },
      { ...definition.variants[0]!, hold: { ms: holdMs } },
      leases,
    );

  test.each([
    // Twice the hold, 3 s of the last attempts, 5 s between two reads.
    [100_000, 208_001, null],
    [
      100_000,
      208_000,
      /^symmetric needs 3m28s to come to rest: 3m20s of settling, .* settle.deadline is 3m28s/,
    ],
    [900_000, 1_800_000, /^symmetric needs 30m8s/],
  ])("a cut of %s ms with %s ms", (holdMs, deadlineMs, wanted) => {
    if (wanted === null) expect(shortfall(holdMs, deadlineMs)).toBeNull();
    else expect(shortfall(holdMs, deadlineMs)).toMatch(wanted);
  });

  test("is no drill that comes with the program", () => {
    for (const one of drills)
      for (const variant of one.definition.variants)
        expect(settleShortfall(one.definition, variant, leases)).toBeNull();
  });
});

describe("orders", () => {
  const times = drillTimes(variant("executor", kill), settle, leases);
  const target = { host: "exec-1", part: "executor", unit: "escapement-executor.service" } as const;
  const common = { host: "exec-1", holdSeconds: 30, limitSeconds: 45 };

  test.each([
    [kill, { fault: "kill", unit: target.unit, keepDown: false }],
    [
      { kind: "stop", restart: "suppressed" },
      { fault: "stop", unit: target.unit, keepDown: true },
    ],
    [{ kind: "pause" }, { fault: "pause", unit: target.unit }],
    [
      { kind: "memory-limit", limitBytes: 7 },
      { fault: "memory-limit", unit: target.unit, limitBytes: 7 },
    ],
    [
      { kind: "clock", offsetSeconds: -300 },
      { fault: "clock", offsetSeconds: -300 },
    ],
    [{ kind: "power" }, { fault: "power", unit: target.unit }],
    [
      { kind: "fill-disk", path: "/srv", reserveBytes: 9 },
      { fault: "fill-disk", path: "/srv", reserveBytes: 9 },
    ],
    [
      { kind: "cut", direction: "receive", keep: ["record-store", "watchman"] },
      { fault: "cut", direction: "receive", keep: ["10.0.0.7", "10.0.0.7"] },
    ],
  ] as const)("%j", (fault, wanted) => {
    expect(draftOrder(variant("executor", fault), target, times, hosts)).toEqual({ ...common, ...wanted });
  });

  test("a host that is cut does not keep itself", () => {
    const keep = { kind: "cut", direction: "both", keep: ["record-store"] } as const;
    const order = draftOrder(
      variant("record-store", keep),
      { host: "store-1", part: "record-store", unit: "x.service" },
      times,
      hosts,
    );
    expect(order.keep).toEqual([]);
  });
});

describe("plans", () => {
  const question = { leases, hosts, roles, variants: [], named: [] };

  test("name the host, what is done, how long at most, and the way back", () => {
    const plan = planDrill({ ...question, drill: drill("kill-executor") });
    expect(plan.variants.map(whereText)).toEqual([
      "exec-2, an executor (or exec-3, exec-1)",
      "exec-2, an executor (or exec-3, exec-1)",
    ]);
    expect(plan.variants.map(({ fault }) => fault)).toEqual([
      "kill -9 of the executor",
      "kill -9 of the executor, kept from starting again",
    ]);
    expect(plan.variants[1]).toMatchObject({
      refused: null,
      wayBack: "the host lets the unit start again and starts it",
      times: { holdMs: 40_000, limitMs: 55_000 },
    });
    expect(plan.longestFaultMs).toBe(55_000);
    expect(plan.expectedMs).toBe(plan.variants[0]!.times.expectedMs + plan.variants[1]!.times.expectedMs);
  });

  test("say why there is no target, and what is not known", () => {
    const drained = { ...roles, executors: [] };
    const [refused] = planDrill({ ...question, roles: drained, drill: drill("pause-executor") }).variants;
    expect(refused!.host).toBeNull();
    expect(whereText(refused!)).toMatch(/^nowhere: 0 executor\(s\) take work/);
    const [unknown] = planDrill({ ...question, roles: undefined, drill: drill("stop-primary") }).variants;
    expect(whereText(unknown!)).toBe("the leading scheduler; which host, the records say when it begins");
  });

  test("say what of the cluster is not as it must be, with what helps", () => {
    const small = [
      { ...roles.executors[0]!, cpu: 1, memory: 0, io: 0 },
      { ...roles.executors[1]!, cpu: 0, memory: 0, io: 1 },
    ];
    const kill = { ...question, drill: drill("kill-executor") };
    const plan = planDrill({ ...kill, roles: { ...roles, executors: small, backlog: 100 } });
    expect(wouldBeRefused(plan)).toBe(true);
    expect(plan.conditions!.filter(({ ok }) => !ok)).toMatchObject([
      {
        what: "executors can take each other's work",
        detail: "0 cpu slots without the largest executor; the drill's own work needs 5 (exec-1 has 1)",
        hint: expect.stringMatching(
          /^two executors of one class need 5 slots of it each: .*cores and memory/,
        ),
      },
      { what: "fewer than 100 shards wait", detail: "100 wait" },
    ]);
    const right = planDrill(kill);
    expect([wouldBeRefused(right), right.conditions!.every(({ ok }) => ok)]).toEqual([false, true]);
    const unasked = planDrill({ ...kill, roles: undefined });
    expect([wouldBeRefused(unasked), unasked.conditions]).toEqual([false, null]);
  });

  const follower = (lagMs: number) => [{ name: "standby", lagMs }];
  test.each([
    ["kill-executor", follower(10_000), true, false],
    ["kill-executor", follower(10_001), false, true],
    ["kill-executor", null, null, false],
    ["kill-store", null, false, true],
    ["kill-store", [], true, false],
  ] as const)("%s with followers %j: what keeps up is %s, refused %s", (name, replicas, ok, refused) => {
    const plan = planDrill({ ...question, drill: drill(name), replicas });
    const found = plan.conditions!.find(({ what }) => what === "replication keeps up")!;
    expect([found.ok, wouldBeRefused(plan)]).toEqual([ok, refused]);
    expect(found.hint !== undefined).toBe(replicas === null);
    const text = planText(plan);
    expect(/not seen.*replication keeps up \(not looked at/.test(text)).toBe(ok === null);
    expect(/not so.*replication keeps up/.test(text)).toBe(ok === false);
  });

  test("say which hosts do not allow the fault by their profile, and are no refusal for it", () => {
    const faults = (name: string) => (name === "exec-1" ? ["pause"] : ["kill", "stop", "cut"]);
    const own = hosts.map((one) => ({ ...one, faults: faults(one.name) }));
    const stop = { ...question, hosts: own, drill: drill("stop-primary") };
    const by = (plan: ReturnType<typeof planDrill>) => plan.variants.map((one) => one.notAllowedBy.join());
    const plan = planDrill(stop);
    expect([by(plan), wouldBeRefused(plan)]).toEqual([["", "", "", "sched-2"], false]);
    expect(planText(plan)).toMatch(/power\n.*\n.*not allowed by the profile of sched-2 \(drills.faults\)/);
    expect(by(planDrill({ ...stop, roles: undefined }))).toEqual(["", "", "", "sched-1,sched-2"]);
    expect(by(planDrill({ ...stop, drill: drill("kill-executor") }))).toEqual(["exec-1", "exec-1"]);
    expect(by(planDrill({ ...stop, hosts }))).toEqual(["", "", "", ""]);
  });

  test("only the variants that were asked for, each by its name", () => {
    const plan = planDrill({ ...question, drill: drill("stop-primary"), variants: ["crash"] });
    expect(plan.variants.map((one) => one.variant)).toEqual(["crash"]);
    expect(plan.variants[0]!.host).toBe("sched-2");
    expect(planText(plan)).toMatch(/^crash\n {2}where/m);
    expect(planText(planDrill({ ...question, drill: drill("pause-executor") }))).toMatch(
      /^fault\n {2}where/m,
    );
  });

  test("who has control slots alone is no executor that lives", () => {
    const watchman = { ...roles.executors[3]!, cpu: 0, memory: 0, io: 0 };
    const live = (executors: typeof roles.executors) =>
      planDrill({
        ...{ ...question, drill: drill("kill-executor") },
        roles: { ...roles, executors },
      }).conditions!.find(({ what }) => what === "two executors live");
    const [one, two] = roles.executors;
    expect(live([one!, two!, watchman])).toMatchObject({ ok: true, detail: "exec-1, exec-2" });
    expect(live([one!, watchman])).toMatchObject({ ok: false, detail: "exec-1" });
  });

  describe("with an abandoned run that a run ends first", () => {
    const run = { drill: "cut-network", person: "ann", abandoned: true };
    const busy = { ...roles, leader: { node: "sched-2", alive: false }, backlog: 200 };
    const stop = { ...question, drill: drill("stop-primary"), variants: ["crash"], roles: busy };

    test.each([
      ["no", { halt: null, run: null }, [], true, /A run would be refused now/],
      ["an abandoned", { halt: null, run }, [], false, /in doubt .*somebody leads \(sched-2 now\)/],
      [
        "an abandoned, halted",
        { halt: { person: "bob", reason: "enough" }, run },
        [],
        true,
        /not so +drills are not halted \(halted by bob: enough\)/,
      ],
      ["an abandoned, and no way to see who follows", { halt: null, run }, null, true, /not so +replication/],
    ])("%s run", (_, switches, replicas, refused, told) => {
      // A drill that may break the store does not begin where nobody may look.
      const one = replicas === null ? { ...stop, drill: drill("kill-store"), variants: [] } : stop;
      const plan = planDrill({ ...one, switches, replicas });
      expect([wouldBeRefused(plan), plan.endsFirst !== null]).toEqual([refused, switches.run !== null]);
      const text = planText(plan);
      expect(text).toMatch(told);
      expect(text.includes("A run would be refused now")).toBe(refused);
      expect(text.includes("as it is now, nowhere: no scheduler leads now")).toBe(
        switches.run !== null && replicas !== null,
      );
    });
  });

  test("every drill that comes with the program has words for everything", () => {
    for (const one of drills) {
      const plan = planDrill({ ...question, drill: one });
      for (const each of plan.variants) {
        expect(each.refused).toBeNull();
        for (const line of [each.fault, each.wayBack, ...each.proof, ...each.pass])
          expect(line).toMatch(/^\S.*\S$/);
        expect([...each.proof, ...each.pass].join()).not.toMatch(/undefined/);
      }
    }
  });
});
