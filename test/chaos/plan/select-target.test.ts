/** Which host is broken, and which never is. */
import { describe, expect, test } from "vitest";
import type { ClusterRoles } from "../../../src/chaos/plan/drilled-cluster.ts";
import { selectTarget, type TargetQuestion } from "../../../src/chaos/plan/select-target.ts";
import { cut, executor, host, hosts, kill, roles, variant } from "./cluster-example.ts";

const spare = { hosts: 1, recordStore: false, awayFromPeakMs: 0 } as const;

function choose(question: Partial<TargetQuestion>) {
  return selectTarget({
    variant: variant("executor", kill),
    blastRadius: spare,
    hosts,
    roles,
    named: [],
    loaded: true,
    ...question,
  });
}

function nameOf(choice: ReturnType<typeof choose>): string {
  return "target" in choice ? choice.target.host : choice.refused;
}

describe("executors", () => {
  test("the one that runs most of the drill's work, then the others that run some", () => {
    expect(choose({})).toEqual({
      target: { host: "exec-2", part: "executor", unit: "escapement-executor.service" },
      also: [{ host: "exec-3", part: "executor", unit: "escapement-executor.service" }],
    });
  });

  test("before the load is on, any that takes work would do", () => {
    const choice = choose({ loaded: false });
    expect("target" in choice && [choice.target, ...choice.also].map((one) => one.host)).toEqual([
      "exec-2",
      "exec-3",
      "exec-1",
    ]);
  });

  test("an idle, drained or silent one is none", () => {
    expect(nameOf(choose({ named: ["exec-1"] }))).toMatch(/^exec-1 cannot be the target/);
    const executors = [
      executor("exec-1", 3, "draining"),
      executor("exec-2", 3, "active", true),
      executor("exec-3", 1),
      executor("exec-1", 0),
    ];
    expect(nameOf(choose({ roles: { ...roles, executors } }))).toBe("exec-3");
  });

  test("never the last one: that of the controller does not count", () => {
    const executors = [executor("exec-1", 3), executor("watch-1")];
    expect(nameOf(choose({ roles: { ...roles, executors } }))).toMatch(/one must be left/);
  });

  test("nobody runs any of it", () => {
    const executors = [executor("exec-1"), executor("exec-2")];
    expect(nameOf(choose({ roles: { ...roles, executors } }))).toMatch(/no executor runs a shard/);
  });

  test("--host holds, and only for hosts that there are", () => {
    expect(nameOf(choose({ named: ["exec-3", "exec-1"] }))).toBe("exec-3");
    expect(nameOf(choose({ named: ["exec-9"] }))).toMatch(/^exec-9 is not a host/);
  });
});

describe("schedulers", () => {
  const leader = variant("scheduler-leader", kill);

  test("whoever leads now", () => {
    expect(nameOf(choose({ variant: leader }))).toBe("sched-2");
    expect(nameOf(choose({ variant: leader, named: ["sched-1"] }))).toBe(
      "sched-1 cannot be the target: scheduler-leader is sched-2 now",
    );
  });

  test.each([
    ["there is no other", [{ node: "sched-2", role: "leader" }]],
    [
      "the other is silent",
      [
        { node: "sched-1", role: "silent" },
        { node: "sched-2", role: "leader" },
      ],
    ],
    ["the only standby is another process of the same node", [{ node: "sched-2", role: "standby" }]],
  ] as [string, ClusterRoles["schedulers"]][])("never when %s", (_, schedulers) => {
    expect(nameOf(choose({ variant: leader, roles: { ...roles, schedulers } }))).toMatch(
      /no standby is ready/,
    );
  });

  test("nobody leads", () => {
    const nobody = { ...roles, leader: { node: "sched-2", alive: false } };
    expect(nameOf(choose({ variant: leader, roles: nobody }))).toBe("no scheduler leads now");
    expect(nameOf(choose({ variant: variant("scheduler-standby", kill), roles: nobody }))).toMatch(
      /no scheduler/,
    );
  });

  test("the standby is the one that does not lead", () => {
    expect(nameOf(choose({ variant: variant("scheduler-standby", kill) }))).toBe("sched-1");
  });
});

describe("hosts of several parts", () => {
  const together = [
    host("both-1", "scheduler", "executor"),
    host("both-2", "scheduler", "record-store"),
    host("exec-2", "executor"),
    host("watch-1", "watchman"),
  ];
  const at = (leader: string, standby: string): ClusterRoles => ({
    leader: { node: leader, alive: true },
    schedulers: [
      { node: leader, role: "leader" },
      { node: standby, role: "standby" },
    ],
    executors: [executor("both-1", 1), executor("exec-2", 2)],
    backlog: 0,
  });

  test("a fault of the whole host spares the record store on it; one of a unit does not touch it", () => {
    const question = { hosts: together, roles: at("both-2", "both-1") };
    expect(nameOf(choose({ ...question, variant: variant("scheduler-leader", cut) }))).toMatch(
      /both-2 is the record store's host, too/,
    );
    expect(nameOf(choose({ ...question, variant: variant("scheduler-leader", kill) }))).toBe("both-2");
    expect(
      nameOf(
        choose({
          ...question,
          variant: variant("scheduler-leader", cut),
          blastRadius: { ...spare, recordStore: true },
        }),
      ),
    ).toBe("both-2");
  });

  test("never both schedulers at once", () => {
    const one = [host("both-1", "scheduler", "executor"), host("exec-2", "executor")];
    const only: ClusterRoles = {
      ...at("both-1", "both-1"),
      executors: [executor("both-1", 3), executor("exec-2", 1)],
    };
    expect(nameOf(choose({ hosts: one, roles: only, variant: variant("executor", cut) }))).toBe("exec-2");
    expect(
      nameOf(choose({ hosts: one, roles: only, named: ["both-1"], variant: variant("executor", cut) })),
    ).toMatch(/^both-1 cannot be the target/);
  });

  test("the host that runs the drills is never a target, whatever else it is", () => {
    const mixed = [...hosts.slice(0, 4), host("watch-1", "watchman", "executor")];
    const executors = [executor("exec-1", 1), executor("watch-1", 5)];
    expect(nameOf(choose({ hosts: mixed, roles: { ...roles, executors } }))).toBe("exec-1");
  });
});

test("the record store, where the drill says so", () => {
  const question = {
    variant: variant("record-store", kill),
    blastRadius: { ...spare, recordStore: true },
  };
  expect(choose(question)).toMatchObject({ target: { host: "store-1", unit: "postgresql@15-main.service" } });
  expect(nameOf(choose({ ...question, hosts: hosts.slice(0, 5) }))).toBe("no host is record-store now");
});
