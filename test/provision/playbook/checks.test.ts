/** What checks make of what hosts say: two holders of the address, silence, half a cluster. Unknown is never a yes. */
import { describe, expect, test } from "vitest";
import { EscapementError } from "../../../src/base/errors.ts";
import { registry } from "../../../src/provision/playbook/actions/index.ts";
import { readStatus } from "../../../src/provision/playbook/cluster-status.ts";
import { HostWorld } from "../../../src/provision/playbook/host-world.ts";
import type { PlaybookHost } from "../../../src/provision/playbook/registry.ts";
import { ask } from "../../../src/provision/playbook/run-unit.ts";
import { standbyFirst } from "../../../src/provision/playbook/standby-first.ts";
import type { ExecRequest, Remote } from "../../../src/remote/remote.ts";
import type { InventoryDefinition, InventoryHost } from "../../../src/spec/inventory-definition.ts";

const hosts: readonly PlaybookHost[] = [
  { name: "sched-1", roles: ["scheduler"], failureDomain: "a" },
  { name: "sched-2", roles: ["scheduler"], failureDomain: "b" },
  { name: "exec-1", roles: ["executor"], failureDomain: "a" },
];

/** What a host says to a command line, or undefined: it cannot be reached. */
type Says = (
  host: string,
  line: string,
) => { stdout?: string; stderr?: string; exitCode?: number } | undefined;

function world(
  says: Says,
  onConnect: (host: string) => void = () => {},
  more: Partial<ConstructorParameters<typeof HostWorld>[0]> = {},
): HostWorld {
  const inventory = {
    name: "site",
    file: "site.yaml",
    hosts: hosts.map(({ name }) => ({
      name,
      settings: { virtualIp: "10.0.0.100/24" },
      target: { host: name, address: "10.0.0.1" },
    })) as unknown as readonly InventoryHost[],
  } as unknown as InventoryDefinition;
  const nothing = async () => {
    throw new Error("not in this test");
  };
  return new HostWorld({
    inventory,
    hosts,
    connect: async (target) => {
      onConnect(target.host);
      return {
        host: target.host,
        async exec({ argv }: ExecRequest) {
          const said = says(target.host, argv.join(" "));
          if (!said)
            throw new EscapementError("E_HOST_LOST", {
              host: target.host,
              what: "a command",
              reason: "silence",
            });
          return { exitCode: 0, stdout: "", stderr: "", truncated: false, durationMs: 1, ...said };
        },
        upload: nothing,
        close: async () => {},
      } satisfies Remote;
    },
    profiles: { plan: nothing, apply: nothing },
    release: nothing,
    reason: "test",
    person: "tester",
    ...more,
  });
}

function look(name: string, says: Says, at = "sched-1", values = {}) {
  const one = world(says);
  const host = hosts.find((candidate) => candidate.name === at)!;
  const context = { world: one, host, hosts, targets: [], signal: new AbortController().signal };
  return ask(registry, context, { check: name, with: values });
}

const status = (change: object) =>
  JSON.stringify({
    leader: { alive: true, node: "sched-1", epoch: 3 },
    schedulers: [],
    executors: [],
    drained: [],
    loads: [],
    backlog: { mostLateMs: null },
    ...change,
  });

describe("the virtual address", () => {
  const with100 = "2: eth0    inet 10.0.0.100/24 scope global secondary eth0";
  const without = "2: eth0    inet 10.0.0.10/24 scope global eth0";
  const held =
    (first: string | undefined, second: string | undefined): Says =>
    (host) => {
      const said = host === "sched-1" ? first : second;
      return said === undefined ? undefined : { stdout: said };
    };
  test.each([
    [held(with100, without), "yes", "sched-1 has it"],
    [held(with100, with100), "no", "sched-1 and sched-2 have it at once"],
    [held(without, without), "no", "nobody has it"],
    [held(with100, undefined), "yes", "sched-1 has it"],
    [held(without, undefined), "unknown", "sched-2 did not say"],
    [held(undefined, undefined), "unknown", "sched-1, sched-2 did not say"],
    [held("2: eth0    inet 10.0.0.1/24", "2: eth0    inet 210.0.0.100/24"), "no", "nobody has it"],
  ] as const)("case %#", async (says, answer, because) => {
    expect(await look("vip-held-once", says)).toEqual({ answer, because });
  });
});

describe("the cluster's status", () => {
  const drained = { drained: [{ node: "exec-1" }] };
  const running = { loads: [{ node: "exec-1", running: 2, processes: 1 }] };
  const alone = { executors: [{ node: "exec-1", state: "active", expired: false, pid: 7, version: "1" }] };
  test.each([
    ["leader-exists", {}, "yes"],
    ["leader-exists", { leader: { alive: false, node: "sched-1", epoch: 3 } }, "no"],
    ["leader-elsewhere", {}, "no"],
    ["executor-drained", {}, "no", "exec-1"],
    ["executor-drained", drained, "yes", "exec-1"],
    ["executor-gets-work", drained, "no", "exec-1"],
    ["no-running-records", running, "no", "exec-1"],
    ["no-running-records", {}, "yes", "exec-1"],
    ["other-executors-work", alone, "no", "exec-1"],
    ["nothing-overdue", { backlog: { mostLateMs: 61_000 } }, "no"],
    ["nothing-overdue", { backlog: { mostLateMs: 900 } }, "yes"],
  ] as const)("%s, %j: %s", async (name, change, answer, at: string = "sched-1") => {
    expect((await look(name, () => ({ stdout: status(change) }), at)).answer).toBe(answer);
    // Whoever cannot look does not know.
    expect((await look(name, () => undefined, at)).answer).toBe("unknown");
    expect((await look(name, () => ({ stdout: "Welcome to this host!" }), at)).answer).toBe("unknown");
    expect((await look(name, () => ({ stdout: '{"leader":1}' }), at)).answer).toBe("unknown");
  });

  test("the second scheduler is asked when the first is silent, or has no way to the store", async () => {
    const down = JSON.stringify({ error: { code: "E_STORE_UNAVAILABLE", message: "no route" } });
    for (const first of [undefined, { stderr: down, exitCode: 69 }]) {
      const says: Says = (host) => (host === "sched-1" ? first : { stdout: status({}) });
      expect((await look("leader-exists", says)).answer).toBe("yes");
    }
  });

  test("a scheduler that cannot be reached is not waited for again at every look", async () => {
    let tries = 0;
    const one = world(
      () => ({ stdout: status({}) }),
      (host) => {
        if (host !== "sched-1") return;
        tries += 1;
        throw new EscapementError("E_HOST_UNREACHABLE", { host, address: "10.0.0.1", reason: "silence" });
      },
    );
    for (let i = 0; i < 3; i++) expect((await readStatus(one)).leader.alive).toBe(true);
    expect(tries).toBe(1);
  });

  test("the leading scheduler comes last; where nobody knows who leads, the order stays", async () => {
    const pair = hosts.slice(0, 2);
    const names = async (says: Says) => (await standbyFirst(world(says), pair)).map((host) => host.name);
    expect(await names(() => ({ stdout: status({}) }))).toEqual(["sched-2", "sched-1"]);
    expect(await names(() => undefined)).toEqual(["sched-1", "sched-2"]);
  });
});

test("a scheduler is ready when its own process is seen in the store, not the one before", async () => {
  const says =
    (pid: number, role: string): Says =>
    (_, line) =>
      line.startsWith("systemctl")
        ? { stdout: `${pid}\n` }
        : { stdout: status({ schedulers: [{ node: "sched-1", role, pid: 42 }] }) };
  expect((await look("scheduler-ready", says(42, "standby"))).answer).toBe("yes");
  expect((await look("scheduler-ready", says(43, "standby"))).answer).toBe("no");
  expect((await look("scheduler-ready", says(42, "silent"))).answer).toBe("no");
  expect((await look("scheduler-ready", says(0, "leader"))).answer).toBe("no");
});

describe("what a killed run has left", () => {
  const askWith = (name: string, says: Says, more: Partial<ConstructorParameters<typeof HostWorld>[0]>) => {
    const host = hosts[2]!;
    const one = world(says, () => {}, more);
    const context = { world: one, host, hosts, targets: [], signal: new AbortController().signal };
    return ask(registry, context, { check: name, with: {} });
  };
  const nothing = async () => {
    throw new Error("not in this test");
  };

  test("a profile that is applied and not confirmed is not applied: the host puts it back", async () => {
    const plan = async () => ({
      ...{ changes: 0, pendingRestarts: 0, unknowns: [], leftToOthers: [] },
      unfinished: ["20261130T000000Z-a"],
    });
    expect(
      await askWith("profile-applied", () => ({}), { profiles: { plan, apply: nothing } }),
    ).toMatchObject({
      answer: "no",
      because: expect.stringContaining("20261130T000000Z-a is not confirmed"),
    });
  });

  test("a profile that is applied says what is left to others, and what could not be judged", async () => {
    const settled = { changes: 0, pendingRestarts: 0, unfinished: [] };
    const said = async (leftToOthers: readonly string[], unknowns: readonly string[]) => {
      const plan = async () => ({ ...settled, leftToOthers, unknowns });
      return askWith("profile-applied", () => ({}), { profiles: { plan, apply: nothing } });
    };
    expect(await said([], [])).toMatchObject({ answer: "yes", because: "no changes" });
    expect(await said(["user:pay: is not on this host"], ["a", "b"])).toMatchObject({
      answer: "yes",
      because: "no changes; 2 not judged; left to others: user:pay: is not on this host",
    });
  });

  test("a toolkit without its command is not there", async () => {
    const release = async () => ({ version: "1-a" }) as never;
    const says = (exitCode: number) => (_: string, line: string) =>
      line.startsWith("readlink") ? { stdout: "versions/1-a\n" } : { exitCode };
    expect(await askWith("toolkit-current", says(0), { release })).toMatchObject({ answer: "yes" });
    expect(await askWith("toolkit-current", says(1), { release })).toMatchObject({ answer: "no" });
  });
});
