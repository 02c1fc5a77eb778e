/** `escapement lab` with the process tier: it outlives `lab up`, breaks and heals, and leaves nothing. */
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { LabOverview } from "../../src/lab/lab.ts";
import { findClockLibrary } from "../../src/lab/process-clock.ts";
import { processesWith } from "../../src/lab/strays.ts";
import { runEscapement } from "../support/processes.ts";
import { until } from "../support/until.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "plab-"));
  // PostgreSQL runs as another user below it.
  chmodSync(folder, 0o755);
});
afterEach(async () => {
  await lab("down");
  rmSync(folder, { recursive: true, force: true });
});

/** All that a lab makes is in the folder of this test, or in the environment of its processes. */
const surroundings = () => ({ TMPDIR: folder, XDG_RUNTIME_DIR: undefined, PLAB_TEST: folder });

const run = (...args: string[]) => runEscapement(args, { environment: surroundings() });
const lab = (command: string, ...args: string[]) => run("lab", command, "--name", "small", ...args);
const up = () => lab("up", "--tier", "process", "-o", join(folder, "out"), "--json");
const processes = () => processesWith([`PLAB_TEST=${folder}`]);

async function overview(): Promise<LabOverview> {
  const { stdout } = await lab("status", "--json");
  return JSON.parse(stdout).labs[0];
}

async function leader(): Promise<string | undefined> {
  const { stdout } = await run("status", "--cluster", join(folder, "out/cluster.yaml"), "--json");
  const { leader } = JSON.parse(stdout);
  return leader.alive ? leader.node : undefined;
}

function keeperPid(): number {
  const [labs = ""] = readdirSync(folder).filter((name) => name.startsWith("escapement-labs-"));
  return JSON.parse(readFileSync(join(folder, labs, "small/lab.json"), "utf8")).keeper.pid;
}

test("it goes on after lab up, one of two schedulers can be switched off, and nothing stays", async () => {
  const made = await up();
  expect(made.code, made.stderr).toBe(0);
  expect(JSON.parse(made.stdout).hosts.map((one: { name: string }) => one.name)).toEqual([
    ...["store", "scheduler-1", "scheduler-2", "executor-1", "executor-2", "executor-3"],
  ]);
  expect(processes().length).toBeGreaterThan(6);
  expect((await up()).stderr).toContain("E_LAB_EXISTS");

  const first = await until(leader, { what: "a leader" });
  await lab("power-off", first);
  expect((await overview()).hosts.find(({ name }) => name === first)?.power).toBe("off");
  await until(async () => ![undefined, first].includes(await leader()), {
    what: "the other one to lead",
    deadlineMs: 60_000,
  });
  expect((await lab("power-on", first)).code).toBe(0);
  expect((await overview()).hosts.map(({ power }) => power)).toEqual(Array(6).fill("on"));

  await lab("cut", "executor-1", "--receive-only");
  await lab("cut", "executor-2", "--from", "store");
  const cuts = async () => (await overview()).hosts.flatMap((one) => one.cuts.map((cut) => cut.direction));
  expect(await cuts()).toEqual(["receive", "both"]);
  await lab("heal", "executor-1");
  expect(await cuts()).toEqual(["both"]);
  await lab("heal");
  expect(await cuts()).toEqual([]);

  expect((await lab("down")).code).toBe(0);
  expect(processes()).toEqual([]);
  expect(readdirSync(folder)).toEqual(["out"]);
  expect(readdirSync(join(folder, "out"))).toEqual([]);
  expect((await lab("down")).code).toBe(0);
}, 240_000);

test("what processes cannot show is said, with the reason", async () => {
  const refused = async (reason: string, ...args: [string, ...string[]]) => {
    const { code, stderr } = await lab(...args);
    expect(stderr).toContain("E_LAB_TIER: the process tier");
    expect(stderr).toContain(reason);
    expect(code).toBe(69);
  };
  await refused("--hosts names machines", "up", "--tier", "process", "--hosts", "3");
  expect((await up()).code).toBe(0);
  await refused("nothing runs inside it", "exec", "executor-1", "--", "true");
  await refused("one network only", "cut", "executor-1", "--from", "executor-2");
  await refused("that of the nodes", "cut", "store");
  if (findClockLibrary() === undefined) await refused("libfaketime", "clock", "executor-1", "+300");
  else {
    expect((await lab("clock", "executor-1", "+300")).code).toBe(0);
    const { hosts } = await overview();
    expect(hosts.map((host) => host.clockOffsetSeconds)).toEqual([0, 0, 0, 300, 0, 0]);
  }
  const unknown = await lab("cut", "exec-9");
  expect(unknown.stderr).toContain("its hosts are store, scheduler-1");
  expect(unknown.code).toBe(64);
}, 240_000);

test("a keeper that is killed takes everything with it, and lab down takes the rest", async () => {
  expect((await up()).code).toBe(0);
  process.kill(keeperPid(), "SIGKILL");
  await until(() => processes().length === 0, { what: "the end of everything", deadlineMs: 30_000 });
  await until(() => readdirSync(folder).every((name) => !name.startsWith("escapement-cluster")), {
    what: "its folders to go",
  });
  expect((await lab("down")).code).toBe(0);
  expect(existsSync(join(folder, "out/cluster.yaml"))).toBe(false);
  expect((await up()).code).toBe(0);
}, 240_000);
