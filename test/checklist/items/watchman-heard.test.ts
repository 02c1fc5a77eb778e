/** Item 8: that what the watchman finds is told, and told to somebody. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { CheckedDefinitions } from "../../../src/checklist/context.ts";
import { watchman } from "../../../src/checklist/items/08-watchman.ts";
import type { WatchDefinition } from "../../../src/spec/watch-definition.ts";
import { goodHosts } from "../fake-host.ts";
import { goodWatch } from "../good-files.ts";
import { changed, context, db, fresh, resultOf } from "../item-scene.ts";
import { openSessions, type Sessions } from "../sessions.ts";

let sessions: Sessions;
beforeAll(async () => {
  sessions = await openSessions(fresh.url, db);
});
afterAll(() => sessions.end());

const watchWith = (change: Partial<WatchDefinition>): Partial<CheckedDefinitions> => ({
  watch: { definition: { ...goodWatch, ...change }, file: "watch.yaml", line: 1 },
});
const soon = new Date(Date.now() + 86_400_000);

const missed =
  "UPDATE escapement.execution SET status = 'failed' WHERE fire_time > clock_timestamp() - interval '5 days'; UPDATE escapement.job SET state_since = '2020-01-01', known_since = '2020-01-01'; UPDATE escapement.job_version SET effective_from = '2020-01-01'";
const noted = (severity: string, toldAt: string) =>
  `INSERT INTO escapement.alert_outbox (dedup_key, kind, severity, job_id, message, watched, opened_at, told_at, told_severity)
   SELECT 'missing-success:' || job_id, 'missing-success', '${severity}', job_id, 'x', true, clock_timestamp(), ${toldAt}, '${severity}' FROM escapement.job`;
const silence = (match: string, until = "1 day", ended = "NULL") =>
  `INSERT INTO escapement.silence (match, until, reason, person, ended_at) VALUES ('${match}', clock_timestamp() + interval '${until}', 'long export', 'sam', ${ended})`;

describe("item 8, what the watchman tells", () => {
  it.each([
    ["nobody was told that successes are missing", missed, /pay\/bonus has missed its last three successes/],
  ])("fails when %s", async (_, sql, message) => {
    expect(await changed(watchman, sql)).toMatchObject({
      verdict: "fail",
      message: expect.stringMatching(message),
      todo: expect.any(String),
    });
  });

  it("fails of a job that the store fires and no file describes", async () => {
    const fileless = { definitions: { jobs: [], allJobs: [] } };
    expect(await changed(watchman, missed, "payments", fileless)).toMatchObject({
      verdict: "fail",
      message: expect.stringMatching(/pay\/bonus has missed its last three successes/),
    });
  });

  it("has no success to miss of jobs that people run", async () => {
    const paused = "UPDATE escapement.job SET state = 'paused' WHERE name <> 'by-hand'";
    const found = await changed(watchman, paused);
    expect(found, found.message).toMatchObject({ verdict: "pass" });
  });

  it("shows the question about silences as it was asked", async () => {
    const found = await changed(watchman, silence('{"job":["pay/bonus"]}'));
    const { what, output } = found.evidence.find((one) => one.what.includes("escapement.silence"))!;
    expect(what).toMatch(/until > coalesce\(\$1, clock_timestamp\(\)\).*-- \$1 = \d{4}-/s);
    expect(output).toMatch(/long export/);
  });

  it.each([
    [
      "of the rule",
      silence('{"rule":["missing-success"]}'),
      "fail",
      /now: silence of rule missing-success until .*, by sam/,
    ],
    ["of everything", silence("{}"), "fail", /now: silence of everything/],
    [
      "of all that is critical",
      silence('{"severity":["critical"]}'),
      "fail",
      /now: silence of severity critical/,
    ],
    [
      "of all jobs, one by one",
      silence('{"job":["pay/bonus","pay/report","pay/by-hand"]}'),
      "fail",
      /now: silence of job/,
    ],
    ["of one job", silence('{"job":["pay/bonus"]}'), "pass", /./],
    ["of warnings", silence('{"severity":["warning"]}'), "pass", /./],
    ["that is over", silence("{}", "-1 minute"), "pass", /./],
    ["that was ended", silence("{}", "1 day", "clock_timestamp()"), "pass", /./],
  ])("a silence by command %s", async (_, sql, verdict, message) => {
    const found = await changed(watchman, sql);
    expect(found, found.message).toMatchObject({ verdict, message: expect.stringMatching(message) });
  });

  it("does not complain of missing successes that were told", async () => {
    const found = await changed(
      watchman,
      `${missed};
       ${noted("critical", "clock_timestamp()")}`,
    );
    expect(found, found.message).toMatchObject({ verdict: "pass" });
  });

  it.each([
    ["that nobody was told of", "critical", "NULL"],
    ["that were told as information", "info", "clock_timestamp()"],
  ])("complains of missing successes %s", async (_, severity, toldAt) => {
    expect(await changed(watchman, `${missed}; ${noted(severity, toldAt)}`)).toMatchObject({
      verdict: "fail",
      message: expect.stringMatching(/pay\/bonus has missed its last three successes and nobody was alerted/),
    });
  });

  it.each([
    [
      "does not alert on the last success",
      watchWith({ rules: { "missing-success": { enabled: false } } }),
      "fail",
      /missing-success is switched off/,
    ],
    [
      "notes missing successes as information",
      watchWith({ rules: { "missing-success": { enabled: true, severity: "info" } } }),
      "fail",
      /missing-success is lowered to info/,
    ],
    [
      "notes them as warnings, and has a silence over warnings",
      watchWith({
        rules: { "missing-success": { enabled: true, severity: "warning" } },
        silences: [{ match: { severity: ["warning"] }, until: soon, reason: "noise", by: "sam" }],
      }),
      "fail",
      /told to nobody now: silence of severity warning/,
    ],
    [
      "has a silence over every missing success",
      watchWith({
        silences: [{ match: { rule: ["missing*"] }, until: soon, reason: "long export", by: "sam" }],
      }),
      "fail",
      /told to nobody now: silence of rule missing\* until/,
    ],
    [
      "has a window that is always open",
      watchWith({
        windows: [
          {
            match: { severity: ["critical"] },
            reason: "weekly",
            kind: "repeated",
            cron: "* * * * *",
            zone: "UTC",
            durationMs: 3_600_000,
          },
        ],
      }),
      "fail",
      /told to nobody now: window of severity critical \(weekly\)/,
    ],
    [
      "has a silence over one job of several",
      watchWith({
        silences: [{ match: { job: ["pay/bonus"] }, until: soon, reason: "moved", by: "sam" }],
      }),
      "pass",
      /./,
    ],
    [
      "has a silence that is over",
      watchWith({
        silences: [{ match: { rule: ["*s*"] }, until: new Date(0), reason: "was long", by: "sam" }],
      }),
      "pass",
      /./,
    ],
  ])("the watchman %s", async (_, definitions, verdict, message) => {
    expect(await resultOf(watchman, "payments", context({ definitions }))).toMatchObject({
      verdict,
      message: expect.stringMatching(message),
    });
  });

  it("is unknown when nothing is there to compare it with", async () => {
    const alone = await changed(watchman, "UPDATE escapement.scheduler SET role = 'stopped'");
    expect(alone).toMatchObject({ verdict: "unknown", message: expect.stringMatching(/no scheduler lives/) });
    const storeless = goodHosts().filter(({ name }) => name !== "db-1");
    expect(await resultOf(watchman, "payments", context({ hosts: storeless }))).toMatchObject({
      verdict: "unknown",
      message: expect.stringMatching(/no host of the inventory is the record store's/),
    });
    const nothing = await changed(watchman, "UPDATE escapement.job SET state = 'paused'");
    expect(nothing).toMatchObject({ verdict: "unknown", message: expect.stringMatching(/no active job/) });
  });
});
