/** The timetable from its file to its fires: applied as jobs, asked again when they fire. */

import { randomBytes } from "node:crypto";
import { copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { listDrillRuns } from "../../../src/store/drill/drill-run.ts";
import { listJobs } from "../../../src/store/job.ts";
import { grantRole } from "../../../src/store/roles.ts";
import { runEscapement } from "../../support/processes.ts";
import { aDrillScene, db, deed, drill, folder, populate, storeUrl, withStore } from "./drill-scene.ts";

aDrillScene();

describe("the timetable", () => {
  beforeAll(() => copyFileSync("chaos/weekly.yaml", join(folder, "weekly.yaml")));
  const schedule = (...args: string[]) => withStore("schedule", ...args);

  test("plan, apply, plan again: nothing to do; what it no longer names is deleted, other jobs stay", async () => {
    const before = await schedule("plan", "weekly.yaml", "--exit-code", "--json");
    expect(before.code).toBe(2);
    expect(JSON.parse(before.stdout)).toMatchObject({
      jobs: [
        { job: "drills/kill-executor", cron: expect.stringMatching(/^\d+ 1[0-4] \* \* [1-4]$/) },
        {},
        {},
        {},
        {},
      ],
    });
    expect((await schedule("apply", "weekly.yaml", ...deed)).stdout).toMatch(/^5 changed, 0 unchanged$/m);
    expect((await schedule("plan", "weekly.yaml", "--exit-code")).code).toBe(0);
    const few = readFileSync("chaos/weekly.yaml", "utf8").replace(/^.*pause-executor.*\n/m, "");
    writeFileSync(join(folder, "few.yaml"), few);
    expect((await schedule("apply", "few.yaml", ...deed)).stdout).toContain("drills/pause-executor  deleted");
    const jobs = (await listJobs(db)).map(({ namespace, name }) => `${namespace}/${name}`);
    expect(jobs).toEqual([
      "drills/cut-network",
      "drills/kill-executor",
      "drills/skew-clock",
      "drills/stop-primary-crash",
    ]);
  });

  /** As the executor would start it. */
  async function fire(change: (timetable: string) => string) {
    await schedule("apply", "weekly.yaml", ...deed);
    const job = (await listJobs(db)).find(({ name }) => name === "kill-executor")!;
    const { environment, command } = job.definition;
    const words = command.slice(command.indexOf("drill"));
    const own = words.map((word) =>
      word.startsWith("/etc/escapement/") ? join(folder, word.slice("/etc/escapement/".length)) : word,
    );
    return runEscapement([...own, "--port", "0", "--out", join(folder, "out")], {
      workingFolder: folder,
      environment: { ...environment, DRILL_TIMETABLE: change(environment.DRILL_TIMETABLE!) },
    });
  }

  /** A zone in which it is about noon now: no test may depend on the hour it runs in. */
  const noon = 12 - new Date().getUTCHours();
  const zone = `Etc/GMT${noon < 0 ? "+" : "-"}${Math.abs(noon)}`;
  const always = (timetable: string) =>
    timetable
      .replace(/timeZone: .*/, `timeZone: ${zone}`)
      .replace(
        /officeHours: .*/,
        'officeHours: { weekdays: [sun, mon, tue, wed, thu, fri, sat], from: "00:00", to: "23:59" }',
      )
      .replace(/peakDays:[\s\S]*?awayFromPeak/, "peakDays: []\n  awayFromPeak")
      .replace(/freezes:[\s\S]*? drills:/, "freezes: []\n  drills:");

  test("a fire in a closed window is left out without failing its job: it touches nothing, and is in the records with its reason", async () => {
    await populate();
    const freeze = (timetable: string) =>
      always(timetable).replace(
        "freezes: []",
        'freezes: [{ from: "2020-01-01T00:00:00Z", to: "2199-01-01T00:00:00Z", reason: quiet century }]',
      );
    const { code, stdout } = await fire(freeze);
    expect(code).toBe(0);
    expect(stdout).toContain("left out  kill-executor: frozen from 2020-01-01T00:00:00.000Z");
    expect(await listDrillRuns(db)).toMatchObject([
      {
        drill: "kill-executor",
        trigger: "schedule",
        verdict: "unknown",
        reason: expect.stringMatching(/^left out: frozen/),
      },
    ]);
  });

  test("a fire while drills are halted is left out, too", async () => {
    await populate();
    await withStore("halt", ...deed);
    const { code, stdout } = await fire(always);
    expect(code).toBe(0);
    expect(stdout).toContain("left out  kill-executor: drills are halted by tester: test");
    expect(await listDrillRuns(db)).toMatchObject([
      { reason: "left out: drills are halted by tester: test" },
    ]);
  });

  test("in an open window it runs: here up to hosts that do not answer", async () => {
    await populate();
    const { code, stdout } = await fire(always);
    expect(code).toBe(4);
    expect(stdout).toContain("refused  kill-executor/restarted");
    expect(await listDrillRuns(db)).toMatchObject([
      { drill: "kill-executor/kept-down", trigger: "schedule" },
      { drill: "kill-executor/restarted", trigger: "schedule" },
    ]);
  }, 120_000);

  test("the login of drills may not apply it: it is told who may", async () => {
    const login = `drill_${randomBytes(4).toString("hex")}`;
    await db.query(`CREATE ROLE ${login} LOGIN`);
    try {
      await grantRole(db, login, "drill");
      const url = new URL(storeUrl);
      url.username = login;
      const args = ["schedule", "apply", "weekly.yaml", ...deed, "--url", url.href];
      await db.query("DELETE FROM escapement.job_version");
      await db.query("DELETE FROM escapement.job");
      const { code, stderr } = await drill(...args);
      expect(code).toBe(69);
      expect(stderr).toContain("to apply jobs and timetables none does: do it as the owner of the database");
      expect(await listJobs(db)).toEqual([]);
    } finally {
      await db.query(`DROP ROLE ${login}`);
    }
  });

  test("--scheduled by hand has no timetable to ask", async () => {
    const { code, stderr } = await withStore("run", "kill-executor", "--yes", "--scheduled");
    expect(code).toBe(64);
    expect(stderr).toContain("--scheduled is for the jobs of escapement drill schedule");
  });
});
