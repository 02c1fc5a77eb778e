/** A drill that the cluster's own scheduler fires on the watchman's host, prepared as docs/drills.md tells it. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import type { DrillReport } from "../../../src/chaos/drill/drill-report.ts";
import type { HostLab } from "../../../src/lab/hosts/host-lab.ts";
import { Database } from "../../../src/store/database.ts";
import {
  type RecordedAttempt,
  type RecordedExecution,
  readDrillRecords,
  recordedJobs,
} from "../../../src/store/drill/drill-records.ts";
import { type DrillRunRow, listDrillRuns } from "../../../src/store/drill/drill-run.ts";
import { until } from "../../support/until.ts";
import { shell } from "../provision/lab-targets.ts";
import { type DrilledSite, lightProbe } from "./drilled-site.ts";

const controller = "watch-1";
const program = "/usr/local/bin/escapement-lab";
const reports = "/var/lib/escapement-executor/drills";
const user = "escapement-executor";

export interface ScheduledDrill {
  /** Every run of the timetable. */
  readonly runs: readonly DrillRunRow[];
  readonly executions: readonly RecordedExecution[];
  readonly attempts: readonly RecordedAttempt[];
  /** As the controller's host has it. */
  readonly report: DrillReport;
}

/** Lets one variant of a drill be fired once, at the next minute there is time for. @returns what the records and the host say afterwards */
export async function runOnTimetable(
  lab: HostLab,
  site: DrilledSite,
  drill: { readonly drill: string; readonly variant: string; readonly class: string },
): Promise<ScheduledDrill> {
  await prepareController(lab, site);
  const file = join(site.folder, "timetable.yaml");
  writeFileSync(file, timetable(drill, new Date()));
  const about = [...site.drillFiles, "--url", site.storeUrl];
  await site.command("drill", "schedule", "apply", file, "--reason", "a test", "--json", ...about);
  const db = new Database(site.storeUrl, { applicationName: "timetable", queryTimeoutMs: 30_000 });
  try {
    const ended = await until(() => endedFire(db), {
      what: "the end of a drill of the timetable",
      deadlineMs: 600_000,
      everyMs: 2_000,
    });
    const runs = (await listDrillRuns(db)).filter(({ trigger }) => trigger === "schedule");
    const said = await shell(
      lab,
      controller,
      "tail -n 60 $(find /var/log/escapement/jobs -type f | head -n 5) 2>&1 || :",
    );
    expect(
      runs.map(({ outcome }) => outcome),
      said,
    ).toHaveLength(1);
    const path = `${reports}/${runs[0]!.runId}/report.json`;
    return { ...ended, runs, report: JSON.parse(await shell(lab, controller, `cat ${path}`)) as DrillReport };
  } finally {
    await db.end();
  }
}

async function endedFire(db: Database) {
  const jobs = await recordedJobs(db, "drills", false, new Date());
  const ids = jobs.map(({ jobId }) => jobId);
  const { executions, attempts } = await readDrillRecords(db, ids, new Date(0), null);
  // The week after is planned already.
  const begun = executions.filter(({ status }) => status !== "planned");
  const isOver = ({ status }: RecordedExecution) => status !== "pending" && status !== "running";
  return begun.length > 0 && begun.every(isOver) && { executions: begun, attempts };
}

/** Inventory, key and host keys, for the user of the executor there; a program that starts the drill's work lightly. */
async function prepareController(lab: HostLab, { folder, inventory }: DrilledSite): Promise<void> {
  const put = (path: string, text: string, owner: string, mode: number) =>
    `install -o ${owner} -m ${mode} /dev/null ${path} && echo ${Buffer.from(text).toString("base64")} | base64 -d > ${path}`;
  const own = (name: string) => readFileSync(join(folder, name), "utf8");
  const script = `#!/bin/sh
exec /opt/escapement/current/node /opt/escapement/current/escapement.mjs "$@" --probe ${lightProbe}
`;
  await shell(
    lab,
    controller,
    `install -d -o ${user} -m 700 /etc/escapement/drill-key
     ${put("/etc/escapement/drill-key/drill_ed25519", own("drill-key/drill_ed25519"), user, 600)}
     ${put("/etc/escapement/inventory.yaml", readFileSync(inventory, "utf8"), "root", 644)}
     ${put("/etc/escapement/known_hosts", own("known_hosts"), "root", 644)}
     ${put(program, script, "root", 755)}`,
  );
}

/** Enough for the jobs to be there before their time. */
const aheadMs = 15_000;
const minuteMs = 60_000;

/**
 * Office hours that leave one minute for the drill, the next one that is far enough away; in a zone
 * where it is about noon now, so that they are of one day.
 */
function timetable(drill: { drill: string; variant: string; class: string }, now: Date): string {
  const hoursEast = 12 - now.getUTCHours();
  const zone = `Etc/GMT${hoursEast > 0 ? "-" : "+"}${Math.abs(hoursEast)}`;
  const from = Math.ceil((now.getTime() + hoursEast * 60 * minuteMs + aheadMs) / minuteMs) * minuteMs;
  const hour = (ms: number) => new Date(ms).toISOString().slice(11, 16);
  const weekday = new Date(from).toUTCString().slice(0, 3).toLowerCase();
  return `apiVersion: escapement/v1
kind: DrillSchedule
metadata: { name: lab }
spec:
  timeZone: ${zone}
  officeHours: { weekdays: [${weekday}], from: "${hour(from)}", to: "${hour(from + 15 * minuteMs)}" }
  seed: any
  peakDays: []
  drills:
    - { drill: ${drill.drill}, variant: ${drill.variant}, class: ${drill.class} }
  timeout: 15m
  controller: { inventory: /etc/escapement/inventory.yaml, reports: ${reports}, program: [${program}] }
`;
}
