/** Item 5: the cap on concurrency as claims keep it, and the time to drain alone and in line. */
import { describe, expect, it } from "vitest";
import type { CheckedDefinitions } from "../../../src/checklist/context.ts";
import { catchUpCaps } from "../../../src/checklist/items/05-catch-up-caps.ts";
import { goodCluster } from "../good-files.ts";
import { changed, context, db, resultOf } from "../item-scene.ts";

/** The bonus fires every so many minutes by the store, and every night by its file. */
const every = (minutes: number) =>
  `UPDATE escapement.job_version SET definition = jsonb_set(definition, '{schedule}', '{"kind":"every","everyMs":${minutes * 60_000}}')
   WHERE job_id = (SELECT job_id FROM escapement.job WHERE name = 'bonus')`;

async function claimSource(): Promise<string> {
  const { rows } = await db.query<{ source: string }>(
    "SELECT pg_get_functiondef('escapement.claim'::regproc) AS source",
  );
  return rows[0]!.source;
}

describe("the cap on concurrency", () => {
  it("finds a claim that gives out more than the share", async () => {
    const found = await changed(
      catchUpCaps,
      (await claimSource()).replace("IF p_catch_up THEN", "IF false THEN"),
    );
    expect(found).toMatchObject({
      verdict: "fail",
      message: expect.stringMatching(/claims got \d+ and then/),
    });
    expect((await db.query("SELECT 1 FROM escapement.shard_live")).rows).toEqual([]);
  });

  it("is unknown while a claim is given nothing", async () => {
    const source = await claimSource();
    const nothing = source.replace(/\bBEGIN\b/, "BEGIN IF p_catch_up THEN RETURN; END IF;");
    expect(nothing).not.toBe(source);
    expect(await changed(catchUpCaps, nothing)).toMatchObject({
      verdict: "unknown",
      message: expect.stringMatching(/was given none of \d/),
    });
  });

  it("is unknown while catch-up holds all of its slots, so that no claim could be given one too many", async () => {
    const full = `INSERT INTO escapement.shard_live (job_id, fire_time, shard_no, class, catch_up, continue_fenced, max_tries, attempt, run_after, owner, fence_token, start_time)
      SELECT -2, 'epoch', n, 4, true, false, 1, 1, '-infinity', incarnation, n, clock_timestamp()
      FROM generate_series(1, 50) n, (SELECT incarnation FROM escapement.executor LIMIT 1) x`;
    expect(await changed(catchUpCaps, full)).toMatchObject({
      verdict: "unknown",
      message: expect.stringMatching(/holds all of its slots/),
    });
  });

  it("finds a share above a half, and a cluster file that is not there", async () => {
    const cluster = {
      definition: { ...goodCluster, catchUp: { share: 0.8 } },
      file: "cluster.yaml",
      line: 1,
    };
    const greedy = context({ definitions: { cluster } });
    expect(await resultOf(catchUpCaps, "payments", greedy)).toMatchObject({ verdict: "fail" });
    const without = context({ definitions: { cluster: undefined } as unknown as CheckedDefinitions });
    expect(await resultOf(catchUpCaps, "cluster", without)).toMatchObject({ verdict: "unknown" });
  });
});

describe("the time to drain alone", () => {
  it("is unknown while no executor has a slot, or all that have are drained", async () => {
    for (const sql of [
      "UPDATE escapement.executor SET cpu_slots = 0",
      "INSERT INTO escapement.executor_drain (node, person, reason) SELECT node, 'tester', 'test' FROM escapement.executor",
    ])
      expect(await changed(catchUpCaps, sql, "pay/bonus")).toMatchObject({
        verdict: "unknown",
        message: expect.stringMatching(/slot of class cpu/),
      });
  });

  it("fails when it is longer than a period; by the timeout alone nobody knows", async () => {
    expect(await changed(catchUpCaps, every(20), "pay/bonus")).toMatchObject({
      verdict: "fail",
      message: expect.stringMatching(/catch-up takes up to 30m.*longer than the 20m/),
    });
    const silent = `${every(20)}; UPDATE escapement.execution SET status = 'failed'`;
    expect(await changed(catchUpCaps, silent, "pay/bonus")).toMatchObject({
      verdict: "unknown",
      message: expect.stringMatching(/no success on record/),
    });
  });

  it("is nothing for a job whose late fires are skipped, whatever its cap says", async () => {
    const sql = `${every(20)}; UPDATE escapement.job_version SET definition = jsonb_set(definition, '{misfire}', '{"policy":"skip","thresholdMs":60000}')`;
    expect(await changed(catchUpCaps, sql, "pay/bonus")).toMatchObject({ verdict: "pass" });
  });

  it("is nothing for a job that people run by the version in force, whatever its file says", async () => {
    const byHand = `UPDATE escapement.job_version SET definition = jsonb_set(definition, '{schedule}', '{"kind":"manual"}')`;
    expect(await changed(catchUpCaps, byHand, "pay/bonus")).toMatchObject({ verdict: "pass" });
  });
});

describe("the time to drain in one line with all others of the class", () => {
  /** Another job like the bonus, with three fires of an hour to catch up; `record`: it has a success. */
  const other = (change: string, record = true, state = "active") => `
    WITH job AS (INSERT INTO escapement.job OVERRIDING SYSTEM VALUE SELECT (jsonb_populate_record(j, to_jsonb(j) || jsonb_build_object('job_id', 9000, 'name', 'other', 'state', '${state}'))).*
      FROM escapement.job j WHERE name = 'bonus' RETURNING job_id, version),
    version AS (INSERT INTO escapement.job_version SELECT (jsonb_populate_record(v, to_jsonb(v) || jsonb_build_object('job_id', 9000, 'definition', v.definition || '${change}'))).*
      FROM escapement.job_version v JOIN escapement.job j USING (job_id, version) WHERE j.name = 'bonus' AND j.job_id <> 9000)
    INSERT INTO escapement.execution SELECT (jsonb_populate_record(e, to_jsonb(e) || jsonb_build_object('job_id', 9000, 'duration_ms', 3600000))).*
      FROM escapement.execution e JOIN escapement.job j USING (job_id) WHERE j.name = 'bonus' AND j.job_id <> 9000 AND ${record}`;

  it("shows both, and passes where both end before the next fire", async () => {
    const found = await changed(catchUpCaps, other('{"timeoutMs": 7200000}'), "pay/bonus");
    // Alone 3 × 10m 3s on 4 of 8 slots; before each of them 4 shards of an hour on 4 slots.
    expect(found).toMatchObject({
      verdict: "pass",
      message: expect.stringMatching(
        /catch-up drains within 30m\S+, in one line with 1 other job\(s\) of class cpu within 3h30m/,
      ),
    });
    const text = found.evidence.find(
      ({ kind, what }) => kind === "computed" && what.includes("line"),
    )!.output;
    expect(text).toMatch(/^alone: 3 fire\(s\) × 10m\S+ × 1\.00 = 30m/m);
    expect(text).toMatch(
      /^in line: 1 other job\(s\) of class cpu, 12h of work ahead on 4 of 8 slot\(s\): 3h30m/m,
    );
    const whole = await changed(catchUpCaps, other('{"timeoutMs": 7200000}'));
    expect(whole.evidence.some(({ what }) => /AS "sideBySide"/.test(what))).toBe(true);
    expect(whole.message).toMatch(/by class: cpu 3h30m/);
  });

  it.each([
    [
      "of hours of others",
      other('{"timeoutMs": 7200000}'),
      "fail",
      /up to 3h30m\S+ in one line with 1 other job.*longer than the 1h/,
    ],
    [
      "of one that has no success on record",
      other('{"timeoutMs": 7200000}', false),
      "unknown",
      /up to 6h30m\S+ in one line .*\(1 job\(s\)\) takes as long as it may/,
    ],
    [
      "of another class",
      other('{"resources": {"class": "io", "peakMemoryBytes": 1}}'),
      "pass",
      /drains within 30m/,
    ],
    ["of a job that is paused", other("{}", true, "paused"), "pass", /drains within 30m/],
    [
      "of a job whose late fires are skipped",
      other('{"misfire": {"policy": "skip", "thresholdMs": 1}}'),
      "pass",
      /drains within 30m/,
    ],
    ["of a job that people run", other('{"schedule": {"kind": "manual"}}'), "pass", /drains within 30m/],
    [
      "of a job that catches up nothing",
      other('{"catchUp": {"maxFires": 0, "keep": "oldest"}}'),
      "pass",
      /drains within 30m/,
    ],
  ])("a job that fires every hour behind a line %s", async (_, sql, verdict, message) => {
    const found = await changed(catchUpCaps, `${sql}; ${every(60)}`, "pay/bonus");
    expect(found, found.message).toMatchObject({ verdict, message: expect.stringMatching(message) });
  });
});
