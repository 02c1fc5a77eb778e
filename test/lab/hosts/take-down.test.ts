/** `lab down` leaves nothing, from whatever point `lab up` had reached when it was killed. */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { hierarchies } from "../../../src/lab/hosts/control-group.ts";
import { LabPlace, labsFolder } from "../../../src/lab/hosts/lab-place.ts";
import { labNames, processesOf, takeDown } from "../../../src/lab/hosts/take-down.ts";
import { noHosts } from "../../support/host-lab.ts";
import { type RunningProcess, runEscapement, startEscapement } from "../../support/processes.ts";
import { until } from "../../support/until.ts";

const name = `down${process.pid}`;
const place = new LabPlace(name);
const output = mkdtempSync(join(tmpdir(), "escapement-lab-down-"));
const folder = join(output, "lab");

/** What must exist before `up` is killed, in the order in which it comes to be. */
const points: readonly (readonly [what: string, there: () => boolean])[] = [
  ["its folder", () => existsSync(place.folder)],
  ["its state", () => existsSync(place.stateFile)],
  ["the network namespace", () => existsSync(`/run/netns/${place.namespace}`)],
  ["the cable to the bridge", () => existsSync(`/sys/class/net/${place.uplink}`)],
  ["the first mount", () => mounts().some((path) => path.startsWith(`${place.folder}/`))],
  ["the first control group", () => existsSync(join(hierarchies()[0] ?? "", place.controlGroup))],
  ["a host's namespace", () => existsSync(`/run/netns/${place.hostNamespace("exec-1")}`)],
  ["a host's process", () => existsSync(join(place.hostFolder("exec-1"), "process"))],
  ["the inventory", () => existsSync(join(folder, "inventory.yaml"))],
];

describe.skipIf(noHosts)("after lab down nothing is left", () => {
  let before: ReturnType<typeof traces>;

  beforeAll(async () => {
    before = traces();
    // Whatever the cache needs is built first, so that every kill below falls into the start itself.
    expect((await up().then((one) => one.exited)).code).toBe(0);
    await takeDown(place);
  }, 20 * 60_000);
  afterAll(async () => {
    await takeDown(place);
    rmSync(output, { recursive: true, force: true });
  });

  const up = () =>
    startEscapement(["lab", "up", "--name", name, "--hosts", "exec-1", "store-1", "-o", folder]);
  const down = () => runEscapement(["lab", "down", "--name", name]);

  /** Namespaces, interfaces, mounts, groups, processes and files that were not there before. */
  async function expectNothingLeft(): Promise<void> {
    const added = () =>
      Object.fromEntries(
        Object.entries(traces()).map(([kind, now]) => [
          kind,
          now.filter((one) => !before[kind as keyof typeof before].includes(one)),
        ]),
      );
    const none = { namespaces: [], interfaces: [], mounts: [], groups: [], processes: [], files: [] };
    // The kernel takes namespaces and their interfaces away a moment after the last use.
    await until(() => JSON.stringify(added()) === JSON.stringify(none), {
      what: "nothing",
      deadlineMs: 5_000,
    }).catch(() => {});
    expect(added()).toEqual(none);
    expect(existsSync(folder)).toBe(false);
  }

  test("of a lab that was whole; and a second time there is nothing to do", async () => {
    expect((await (await up()).exited).code).toBe(0);
    expect(traces().namespaces.length).toBeGreaterThan(before.namespaces.length);
    const { dev, ino } = statSync(place.hostRoot("exec-1"));
    const lock = `/run/systemd/nspawn/locks/inode-${dev}:${ino}`;
    expect(existsSync(lock)).toBe(true);
    expect(Number(readFileSync("/proc/sys/fs/inotify/max_user_instances", "utf8"))).toBeGreaterThan(1_000);
    expect((await down()).code).toBe(0);
    expect(existsSync(lock)).toBe(false);
    // The value from before is noted as long as any lab is there, and no longer.
    await until(() => labNames().length > 0 || !existsSync(join(labsFolder, ".inotify-instances")), {
      what: "the machine's own limit to be back",
    });
    await expectNothingLeft();
    expect((await down()).code).toBe(0);
    await expectNothingLeft();
  });

  test.each(points)("of one whose start was killed when there was %s", async (_what, there) => {
    const starting = await up();
    await until(there, { what: "the point", everyMs: 1 });
    starting.kill("SIGKILL");
    await starting.exited;
    expect((await down()).code).toBe(0);
    await expectNothingLeft();
  });

  test("of one whose taking down was killed, too", async () => {
    expect((await (await up()).exited).code).toBe(0);
    const ending = await startEscapement(["lab", "down", "--name", name]);
    await until(() => !existsSync(`/sys/class/net/${place.uplink}`), {
      what: "the cable to be gone",
      everyMs: 1,
    });
    ending.kill("SIGKILL");
    await ending.exited;
    expect((await down()).code).toBe(0);
    await expectNothingLeft();
  });

  test("of one whose start was stopped by a signal, without lab down", async () => {
    const starting = await up();
    await starting.seen(/starting 2 hosts/);
    starting.kill("SIGTERM");
    expect((await starting.exited).code).toBe(130);
    await expectNothingLeft();
  });

  test("but a lab that is being put up is left alone", async () => {
    const starting: RunningProcess = await up();
    await starting.seen(/starting 2 hosts/);
    starting.kill("SIGSTOP");
    try {
      expect((await down()).code).toBe(4);
    } finally {
      starting.kill("SIGCONT");
    }
    expect((await starting.exited).code).toBe(0);
    expect((await down()).code).toBe(0);
    await expectNothingLeft();
  });
});

/** Everything of this machine that a lab could leave behind, without what belongs to other labs. */
function traces() {
  const others = labNames().filter((one) => one !== name);
  const foreign = others.flatMap((one) => [
    `esc-lab-${one}`,
    `/run/escapement-lab/${one}/`,
    new LabPlace(one).uplink,
  ]);
  const own = (entries: readonly string[]) =>
    entries.filter((entry) => !foreign.some((part) => entry.includes(part)));
  return {
    namespaces: own(list("/run/netns")),
    interfaces: own(list("/sys/class/net")),
    mounts: own(mounts()),
    groups: own(hierarchies().flatMap((top) => list(top).map((group) => join(top, group)))),
    processes: processesOf(place).map(String),
    files: [
      ...list("/run/escapement-lab").filter((one) => !one.startsWith(".") && !others.includes(one)),
      ...list("/run/escapement-lab/.networks").filter(
        (range) => readFileSync(join("/run/escapement-lab/.networks", range), "utf8") === name,
      ),
      ...list("/run/systemd/nspawn/propagate").filter((one) => one.startsWith(`${name}.`)),
    ],
  };
}

function mounts(): string[] {
  return readFileSync("/proc/self/mountinfo", "utf8")
    .split("\n")
    .map((line) => line.split(" ")[4] ?? "")
    .filter((path) => path !== "");
}

function list(path: string): string[] {
  return existsSync(path) ? readdirSync(path) : [];
}
