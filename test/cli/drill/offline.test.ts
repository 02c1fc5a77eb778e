/** Drill commands that read files only, as users run them. */
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { History } from "../../../src/chaos/history.ts";
import { correctHistory } from "../../chaos/history-generator.ts";
import { SeededRandom } from "../../chaos/seeded-random.ts";
import { runEscapement } from "../../support/processes.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "drill-cli-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

const drill = (...args: string[]) => runEscapement(["drill", ...args], { workingFolder: folder });

test("list and show know every drill that comes with the program, also from another folder", async () => {
  const { code, stdout } = await drill("list", "--json");
  expect(code).toBe(0);
  const { drills } = JSON.parse(stdout) as { drills: { name: string; class: string; mandatory: boolean }[] };
  expect(drills.length).toBe(10);
  expect(drills.find(({ name }) => name === "kill-executor")).toMatchObject({ mandatory: true });
  expect(drills.find(({ name }) => name === "fill-disk")).toMatchObject({ mandatory: false });
  const shown = await drill("show", "cut-network");
  expect(shown.stdout).toMatch(/receive-only\ntarget {5}an executor that runs a shard/);
  expect(shown.stdout).toContain(
    "drop all packets in, while what goes out still leaves, but for the controller",
  );
});

test("a drill of the site stands in place of one of equal name; a wrong one is told with its place", async () => {
  const own = join(folder, "own");
  mkdirSync(own);
  copyFileSync("chaos/kill-executor.yaml", join(own, "kill.yaml"));
  const text = readFileSync("chaos/kill-executor.yaml", "utf8");
  writeFileSync(join(own, "kill.yaml"), text.replace("for: 40s", "for: 41s"));
  const { stdout } = await drill("show", "kill-executor", "--drills", "own", "--json");
  expect(JSON.parse(stdout)).toMatchObject({ variants: [{ hold: { ms: 41_000 } }, {}] });
  writeFileSync(join(own, "kill.yaml"), text.replace("owning: running-shard", ""));
  const wrong = await drill("show", "kill-executor", "--drills", "own");
  expect(wrong.code).toBe(65);
  expect(wrong.stderr).toMatch(/own\/kill\.yaml:9:11 {2}spec\.target must have owning/);
});

test("a slip of the pen is a question, not a drill", async () => {
  const { code, stderr } = await drill("show", "kill-exekutor");
  expect(code).toBe(64);
  expect(stderr).toContain("did you mean kill-executor?");
});

/** As a drill leaves one: with a fault that was seen and is over, and what must have occurred. */
function drilled(): History {
  const history = correctHistory(new SeededRandom(11));
  const fires = history.obligations.map(({ fireTime }) => fireTime).sort();
  const fault = { kind: "kill", target: "exec-1", proven: true, attemptsHit: 1, unsupervised: [] };
  const before = history.faults.map((one) => ({ ...one, until: one.until ?? history.readAt }));
  return {
    ...history,
    faults: [...before, { ...fault, at: fires[0]!, until: fires.at(-1)! }],
    requirements: { faultKinds: ["kill"], phases: [], obligationsInFault: 1, attemptsHit: 1, refusals: 0 },
  };
}

describe("judge", () => {
  function write(name: string, value: unknown): string {
    writeFileSync(join(folder, name), typeof value === "string" ? value : JSON.stringify(value));
    return name;
  }

  test("a right history passes; without an effect of its own it fails; unsettled it is unknown", async () => {
    const history = drilled();
    expect((await drill("judge", write("right.json", history))).code).toBe(0);
    const [first, ...effects] = history.effects;
    expect(first).toBeDefined();
    const lost = await drill("judge", write("lost.json", { ...history, effects }), "--json");
    expect(lost.code).toBe(1);
    expect(JSON.parse(lost.stdout)).toMatchObject({ outcome: "fail" });
    const unsettled = await drill("judge", write("unsettled.json", { ...history, settled: false }));
    expect(unsettled.code).toBe(5);
    expect(unsettled.stdout).toMatch(/^unknown: the cluster had not come to rest/m);
  });

  test.each([
    [
      "a fault that its target alone reported",
      (one: History) => ({
        faults: one.faults.map((fault) => ({ ...fault, target: "exec-1", proven: false })),
        limits: { ...one.limits, overlapMs: 10_000 },
      }),
      "of exec-1 was reported by exec-1 itself; what the drill asks to see besides, from a second place",
    ],
    [
      "no fault at all",
      (one: History) => ({ faults: [], limits: { ...one.limits, overlapMs: 10_000 } }),
      "it holds no fault\n",
    ],
    ["no executions", { executions: undefined }, "it holds no executions"],
    ["no requirements", { requirements: undefined }, "what must have occurred"],
    [
      "no end of the fault",
      (one: History) => ({ faults: [...one.faults.slice(0, -1), { ...one.faults.at(-1), until: null }] }),
      "taken back",
    ],
    ["limits that find nothing", { limits: { overlapMs: 1e12 } }, "limits.overlapMs"],
  ])("with %s nothing is concluded", async (_, change, why) => {
    const history = drilled();
    const changed = { ...history, ...(typeof change === "function" ? change(history) : change) };
    const { code, stdout } = await drill("judge", write("part.json", changed));
    expect(code, stdout).toBe(5);
    expect(stdout).toContain(why);
  });

  test.each([
    ["no history", "{}"],
    ["no JSON", "{"],
    ["a key that is repeated", JSON.stringify(drilled()).replace(/}$/, ',"refusals":[]}')],
    ["an instant that does not exist", JSON.stringify({ ...drilled(), readAt: "2026-99-99T00:00:00.000Z" })],
    [
      "more shards than there are",
      JSON.stringify({
        ...drilled(),
        obligations: drilled().obligations.map((one) => ({ ...one, shardCount: 2 ** 31 })),
      }),
    ],
  ])("%s is bad data", async (_, text) => {
    expect((await drill("judge", write("bad.json", text))).code).toBe(65);
  });

  test("no file", async () => {
    expect((await drill("judge", "nowhere.json")).code).toBe(65);
  });
});

test("keygen makes a key that only its owner may read, once", async () => {
  const made = await drill("keygen", "--key", "key");
  expect(made.code).toBe(0);
  expect(made.stdout).toMatch(/^ {4}drillPublicKey: ssh-ed25519 AAAA\S+ escapement-drill$/m);
  expect(statSync(join(folder, "key", "drill_ed25519")).mode & 0o777).toBe(0o600);
  expect((await drill("keygen", "--key", "key")).code).toBe(4);
});

describe("schedule next", () => {
  const weekly = () => {
    copyFileSync("chaos/weekly.yaml", join(folder, "weekly.yaml"));
    return "weekly.yaml";
  };

  test("tells what runs and what is left out, and why", async () => {
    const args = ["schedule", "next", weekly(), "--from", "2026-12-14T00:00:00Z", "--count", "12"];
    const { code, stdout } = await drill(...args, "--json");
    expect(code).toBe(0);
    const { fires } = JSON.parse(stdout) as { fires: { at: string; skipped: string | null }[] };
    expect(fires.length).toBe(12);
    for (const { at, skipped } of fires) {
      const isFrozen = at >= "2026-12-18" && at < "2027-01-04";
      expect(skipped !== null && /frozen|peak day/.test(skipped)).toBe(isFrozen);
    }
    expect((await drill(...args)).stdout).toContain("left out: frozen from 2026-12-18T00:00:00.000Z");
  });

  test("says when a class will be too old for the checklist, and as JSON", async () => {
    const args = ["schedule", "next", weekly(), "--from", "2026-12-14T00:00:00Z"];
    const { code, stderr } = await drill(...args);
    expect(code).toBe(0);
    expect(stderr).toMatch(
      /^note: executor-killed will be older than 8d from 2026-12-24T\d\d:\d\dZ to 2027-01-06T/m,
    );
    expect(JSON.parse((await drill(...args, "--json")).stdout).aged[0]).toMatchObject({
      class: expect.any(String),
      from: expect.stringMatching(/^2026-12-2/),
      to: expect.stringMatching(/^2027-01-/),
    });
    const calm = readFileSync("chaos/weekly.yaml", "utf8")
      .replace(/peakDays:[\s\S]*?awayFromPeak/, "peakDays: []\n  awayFromPeak")
      .replace(/freezes:[\s\S]*? drills:/, "freezes: []\n  drills:");
    writeFileSync(join(folder, "calm.yaml"), calm);
    expect((await drill("schedule", "next", "calm.yaml")).stderr).not.toContain("older than");
  });

  test("a timetable that does not fit the drills there are is bad data", async () => {
    const text = readFileSync("chaos/weekly.yaml", "utf8");
    writeFileSync(join(folder, "wrong.yaml"), text.replace("drill: cut-network", "drill: cut-netwrok"));
    const { code, stderr } = await drill("schedule", "next", "wrong.yaml");
    expect(code).toBe(65);
    expect(stderr).toContain("there is no drill cut-netwrok");
  });

  test("a class that the checklist asks for and the timetable lacks is said", async () => {
    const text = readFileSync("chaos/weekly.yaml", "utf8");
    writeFileSync(join(folder, "few.yaml"), text.replace(/^.*network-cut.*\n/m, ""));
    const { code, stderr } = await drill("schedule", "next", "few.yaml");
    expect(code).toBe(0);
    expect(stderr).toContain("the checklist asks for network-cut");
  });
});

describe("command lines", () => {
  test.each(["run", "status", "history", "schedule plan", "schedule apply", "abort", "resume"])(
    "%s: its help names a store wherever one is needed",
    async (command) => {
      const { stdout } = await drill(...command.split(" "), "--help");
      const lines = [...stdout.matchAll(/^ {2}\$ (.*)$/gm)].map((match) => match[1]);
      expect(lines.length).toBeGreaterThan(0);
      for (const line of lines) expect(line).toContain("--cluster cluster.yaml");
    },
  );

  test.each(["README.md", "docs/drills.md"])("%s: what it runs has hosts and a store", (file) => {
    const lines = [...readFileSync(file, "utf8").matchAll(/escapement drill run [^`\n]*--yes[^`\n]*/g)];
    expect(lines.length).toBeGreaterThan(0);
    for (const [line] of lines) expect(line).toContain("-i inventory.yaml --cluster cluster.yaml");
  });

  test("status --watch has no JSON, and says so before anything else", async () => {
    const { code, stdout, stderr } = await drill("status", "--watch", "--json");
    expect([code, stdout]).toEqual([64, ""]);
    expect(stderr).toContain("--watch and --json do not go together");
  });
});
