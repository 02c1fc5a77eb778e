/** `once` inside a service. */
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import type { OnceOptions } from "../../src/guard/index.ts";
import { type GuardDatabase, guardDatabase } from "./guard-database.ts";

let db: GuardDatabase;
beforeAll(async () => {
  db = await guardDatabase();
});
afterAll(() => db.close());

const base = { leaseMs: 30_000, blocking: "skip" } as const;

/** Makes the run look as if its holder had been killed and its lease had ended. */
const die = (job: string) =>
  db.pool.query("UPDATE escapement_guard.once_run SET lease_until = clock_timestamp() WHERE job = $1", [job]);

async function acquireAsOther(job: string, slot: string): Promise<string> {
  const { rows } = await db.pool.query(
    "SELECT token FROM escapement_guard.once_acquire($1, $2, 'period', 'other', 'host-b', 7, '30 s', 'skip', true)",
    [job, slot],
  );
  return rows[0].token;
}

test("twenty at once: one runs", async () => {
  const work = vi.fn(async () => "value");
  const outcomes = await Promise.all(
    Array.from({ length: 20 }, () => db.guard.once({ ...base, job: "a", period: "2026-07" }, work)),
  );
  expect(work).toHaveBeenCalledTimes(1);
  expect(outcomes.filter((one) => one.status === "ran")).toEqual([
    { status: "ran", value: "value", attempt: 1 },
  ]);
  for (const one of outcomes) expect(["ran", "running", "already-done"]).toContain(one.status);
  expect(await db.guard.once({ ...base, job: "a", period: "2026-07" }, work)).toEqual({
    status: "already-done",
  });
});

test("another period, another fire time and another job are other runs", async () => {
  const work = vi.fn(async () => {});
  const fireTime = new Date("2026-07-01T02:00:00Z");
  await db.guard.once({ ...base, job: "b", period: "2026-07" }, work);
  await db.guard.once({ ...base, job: "b", period: "2026-08" }, work);
  await db.guard.once({ ...base, job: "b2", period: "2026-07" }, work);
  await db.guard.once({ ...base, job: "b", fireTime }, work);
  await db.guard.once({ ...base, job: "b", fireTime: new Date(fireTime) }, work);
  expect(work).toHaveBeenCalledTimes(4);
});

test("waiting copies stay until the run has ended, and then have nothing to do", async () => {
  let end = () => {};
  const options: OnceOptions = { ...base, job: "c", period: "2026-07", blocking: "wait" };
  // The row is there before the work is: what ends the run exists only once the work has begun.
  const first = await new Promise<{ outcome: ReturnType<typeof db.guard.once<void>> }>((begun) => {
    const outcome = db.guard.once(options, () => {
      begun({ outcome });
      return new Promise<void>((resolve) => (end = resolve));
    });
  });
  const second = db.guard.once(options, async () => {});
  end();
  expect((await first.outcome).status).toBe("ran");
  expect(await second).toEqual({ status: "already-done" });
});

describe("an earlier run still runs", () => {
  test.each(["skip", "fail"] as const)(
    "%s: this one is blocked for good, with the reason",
    async (blocking) => {
      const job = `d-${blocking}`;
      const token = await acquireAsOther(job, "2026-07-01");
      const work = vi.fn(async () => {});
      const attempt = () => db.guard.once({ ...base, job, period: "2026-07-02", blocking }, work);
      expect(await attempt()).toMatchObject({
        status: "blocked",
        reason: expect.stringContaining("2026-07-01"),
      });
      await db.pool.query("SELECT escapement_guard.once_finish($1, '2026-07-01', $2, 'done', 0, NULL)", [
        job,
        token,
      ]);
      expect(await attempt()).toMatchObject({ status: "blocked" });
      expect(work).not.toHaveBeenCalled();
    },
  );

  test("wait: it runs when the earlier one has ended", async () => {
    const token = await acquireAsOther("d-wait", "2026-07-01");
    const later = db.guard.once(
      { ...base, job: "d-wait", period: "2026-07-02", blocking: "wait" },
      async () => "ran",
    );
    await db.pool.query("SELECT escapement_guard.once_finish('d-wait', '2026-07-01', $1, 'done', 0, NULL)", [
      token,
    ]);
    expect(await later).toMatchObject({ status: "ran" });
  });

  test("a waiting copy can be called off", async () => {
    await acquireAsOther("d-stop", "2026-07-01");
    const stop = new AbortController();
    const waiting = db.guard.once(
      { ...base, job: "d-stop", period: "2026-07-02", blocking: "wait", signal: stop.signal },
      async () => {},
    );
    stop.abort();
    expect(await waiting).toMatchObject({ status: "blocked" });
  });

  test("an earlier run whose holder died does not block", async () => {
    await acquireAsOther("d-dead", "2026-07-01");
    await die("d-dead");
    expect(
      await db.guard.once({ ...base, job: "d-dead", period: "2026-07-02" }, async () => {}),
    ).toMatchObject({ status: "ran" });
  });
});

describe("the holder died", () => {
  test("nobody runs again until somebody says so", async () => {
    await acquireAsOther("e", "2026-07");
    await die("e");
    const work = vi.fn(async () => {});
    const options = { ...base, job: "e", period: "2026-07" };
    expect(await db.guard.once(options, work)).toEqual({ status: "holder-died", holder: "host-b pid 7" });
    expect(work).not.toHaveBeenCalled();
    expect(await db.guard.once({ ...options, rerunAfterCrash: true }, work)).toMatchObject({
      status: "ran",
      attempt: 2,
    });
  });

  test("a person may say: it was done, or run it again", async () => {
    for (const [to, expected] of [
      ["done", "already-done"],
      ["ready", "ran"],
    ] as const) {
      await acquireAsOther(`e-${to}`, "2026-07");
      await die(`e-${to}`);
      await db.pool.query("SELECT escapement_guard.once_settle($1, $2, 'me', 'looked')", [
        `e-${to}/2026-07`,
        to,
      ]);
      expect(
        await db.guard.once({ ...base, job: `e-${to}`, period: "2026-07" }, async () => {}),
      ).toMatchObject({ status: expected });
    }
  });

  test("a frozen holder that wakes up after someone took over learns that it lost", async () => {
    const outcome = await db.guard.once({ ...base, job: "e-frozen", period: "2026-07" }, async () => {
      await die("e-frozen");
      await acquireAsOther("e-frozen", "2026-07");
    });
    expect(outcome).toMatchObject({ status: "lost" });
  });

  test("its writes are refused by the fence from the moment somebody has taken over", async () => {
    const attempt = db.guard.once({ ...base, job: "e-fence", period: "2026-07" }, async (run) => {
      await db.transaction((tx) => db.guard.withFence(tx, run.fence));
      await die("e-fence");
      await db.transaction((tx) => db.guard.withFence(tx, run.fence));
      await acquireAsOther("e-fence", "2026-07");
      await db.transaction((tx) => db.guard.withFence(tx, run.fence));
    });
    await expect(attempt).rejects.toMatchObject({ code: "E_GUARD_STALE" });
  });

  test("a lease taken away in the middle aborts the signal", async () => {
    const outcome = await db.guard.once(
      { ...base, leaseMs: 1_000, job: "e-signal", period: "2026-07" },
      async (run) => {
        await die("e-signal");
        await new Promise((_, reject) =>
          run.signal.addEventListener("abort", () => reject(run.signal.reason)),
        );
      },
    );
    expect(outcome).toMatchObject({ status: "lost" });
    const { rows } = await db.pool.query(
      "SELECT state FROM escapement_guard.once_run WHERE job = 'e-signal'",
    );
    expect(rows).toEqual([{ state: "interrupted" }]);
  });
});

test("a failed run is not repeated until asked for, and the error reaches the caller", async () => {
  const options = { ...base, job: "f", period: "2026-07" };
  await expect(
    db.guard.once(options, async () => Promise.reject(new Error("no https://u:pw@db"))),
  ).rejects.toThrow("no https");
  expect(await db.guard.once(options, async () => {})).toEqual({
    status: "failed-before",
    reason: "no https://u:***@db",
  });
  expect(await db.guard.once({ ...options, rerunAfterFailure: true }, async () => {})).toMatchObject({
    status: "ran",
    attempt: 2,
  });
});

test("a run longer than its lease keeps it", async () => {
  const options = { ...base, leaseMs: 1_000, job: "g", period: "2026-07" };
  const outcome = await db.guard.once(options, async (run) => {
    const until = Date.now() + 2_500;
    while (Date.now() < until) {
      expect((await db.guard.once({ ...options, rerunAfterCrash: true }, async () => {})).status).toBe(
        "running",
      );
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    return run.isHeld();
  });
  expect(outcome).toMatchObject({ status: "ran", value: true });
});

test("a fire time ahead of the database clock is refused, a little is forgiven", async () => {
  const at = (ms: number) => new Date(Date.now() + ms);
  expect(await db.guard.once({ ...base, job: "h", fireTime: at(300_000) }, async () => {})).toMatchObject({
    status: "early",
  });
  expect(await db.guard.once({ ...base, job: "h", fireTime: at(20_000) }, async () => {})).toMatchObject({
    status: "ran",
  });
});

test("an answer that was lost is asked for again, and the same holder gets the same run", async () => {
  const ask = () =>
    db.pool.query(
      "SELECT decision, token FROM escapement_guard.once_acquire('i', '2026-07', 'period', 'me', 'h', 1, '30 s', 'skip')",
    );
  const first = (await ask()).rows[0];
  expect(first.decision).toBe("run");
  expect((await ask()).rows[0]).toEqual(first);
});

test("a slot without a date, a lease too short: refused", async () => {
  await expect(db.guard.once({ ...base, job: "j", period: "july" }, async () => {})).rejects.toMatchObject({
    code: "E_GUARD_KEY_DATE",
  });
  await expect(
    db.guard.once({ ...base, leaseMs: 10, job: "j", period: "2026-07" }, async () => {}),
  ).rejects.toMatchObject({ code: "E_BAD_DATA" });
});

test("work that throws before it returns a promise is a failed run, too", async () => {
  const options = { ...base, job: "sync", period: "2026-07" };
  const broken = db.guard.once(options, () => {
    throw new Error("at once");
  });
  await expect(broken).rejects.toThrow("at once");
  expect(await db.guard.once(options, async () => {})).toEqual({
    status: "failed-before",
    reason: "at once",
  });
});

test("work that returns early because its lease was lost does not count as done", async () => {
  const options = { job: "early-return", period: "2026-07", leaseMs: 1_000, blocking: "skip" } as const;
  const outcome = await db.guard.once(options, async (run) => {
    await db.pool.query("UPDATE escapement_guard.once_run SET token = -token WHERE job = 'early-return'");
    await vi.waitUntil(() => !run.isHeld(), { timeout: 5_000 });
    // Nobody has taken it over by now.
    await db.pool.query("UPDATE escapement_guard.once_run SET token = -token WHERE job = 'early-return'");
  });
  expect(outcome).toMatchObject({ status: "lost" });
  expect(await db.guard.once(options, async () => {})).toMatchObject({ status: "holder-died" });
});
