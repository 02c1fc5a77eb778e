/** Work items: every item once, however many work on the list. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { type GuardDatabase, guardDatabase } from "./guard-database.ts";

let db: GuardDatabase;
beforeAll(async () => {
  db = await guardDatabase();
  await db.pool.query("CREATE TABLE paid (list text, item text)");
});
afterAll(() => db.close());

const options = { leaseMs: 30_000, maxAttempts: 3, retryAfterMs: 10 };
const items = (count: number) =>
  Array.from({ length: count }, (_, i) => ({ item: `i${i}`, payload: { n: i } }));

test("eight workers, five hundred items, each done once", async () => {
  const list = () => db.guard.workItems<{ n: number }>("many/2026-07", options);
  expect(await list().add(items(500))).toBe(500);
  expect(await list().add(items(501))).toBe(1);
  await Promise.all(
    Array.from({ length: 8 }, () =>
      list().work({ batch: 7 }, (item) =>
        db.transaction(async (tx) => {
          await tx.query("INSERT INTO paid VALUES ('many', $1)", [item.item]);
          await item.done(tx, { n: item.payload.n });
        }),
      ),
    ),
  );
  expect(await list().summary()).toEqual({ pending: 0, processing: 0, done: 501, failed: 0, complete: true });
  const { rows } = await db.pool.query(
    "SELECT count(*)::int AS total, count(DISTINCT item)::int AS items FROM paid WHERE list = 'many'",
  );
  expect(rows).toEqual([{ total: 501, items: 501 }]);
});

test("an item that keeps failing is given up after its attempts, and the others are done", async () => {
  const list = db.guard.workItems("fail/2026-07", options);
  await list.add(items(3));
  const attempts: number[] = [];
  const summary = await list.work({ batch: 10 }, async (item) => {
    if (item.item === "i1") {
      attempts.push(item.attempt);
      throw new Error("POST https://u:pw@host failed");
    }
    await item.done();
  });
  expect(attempts).toEqual([1, 2, 3]);
  expect(summary).toEqual({ pending: 0, processing: 0, done: 2, failed: 1, complete: false });
  const { rows } = await db.pool.query(
    "SELECT error FROM escapement_guard.work_item WHERE list = 'fail/2026-07' AND state = 'failed'",
  );
  expect(rows).toEqual([{ error: "POST https://u:***@host failed" }]);
});

test("the pause between attempts is kept, by everybody", async () => {
  const list = db.guard.workItems("pause/2026-07", { ...options, retryAfterMs: 400 });
  await list.add(items(1));
  const at: number[] = [];
  const worker = async (item: { attempt: number; done(): Promise<void> }) => {
    at.push(performance.now());
    if (item.attempt === 1) throw new Error("not yet");
    await item.done();
  };
  await Promise.all([list.work({ batch: 1 }, worker), list.work({ batch: 1, untilSettled: true }, worker)]);
  expect(at).toHaveLength(2);
  expect(at[1]! - at[0]!).toBeGreaterThanOrEqual(390);
});

test("a worker that forgets done() does not go unnoticed", async () => {
  const list = db.guard.workItems("forget/2026-07", { ...options, maxAttempts: 1 });
  await list.add(items(1));
  expect(await list.work({ batch: 1 }, async () => {})).toMatchObject({ done: 0, failed: 1 });
});

test("the items of a dead holder are swept when their lease ends, and its late done() is refused", async () => {
  await db.guard.workItems("dead/2026-07", options).add(items(1));
  const { rows } = await db.pool.query(
    "SELECT token FROM escapement_guard.work_take('dead/2026-07', 'dead', '300 ms', 1, 3)",
  );
  const list = db.guard.workItems("dead/2026-07", options);
  const attempts: number[] = [];
  const summary = await list.work({ batch: 1, untilSettled: true }, async (item) => {
    attempts.push(item.attempt);
    await item.done();
  });
  expect(attempts).toEqual([2]);
  expect(summary.complete).toBe(true);
  const late = db.pool.query("SELECT escapement_guard.work_done('dead/2026-07', 'i0', $1)", [rows[0].token]);
  await expect(late).rejects.toMatchObject({ code: "EG002" });
});

test("without untilSettled it reports what others hold", async () => {
  const list = db.guard.workItems("held/2026-07", options);
  await list.add(items(2));
  await db.pool.query("SELECT escapement_guard.work_take('held/2026-07', 'other', '1 min', 1, 3)");
  expect(await list.work({ batch: 5 }, (item) => item.done())).toEqual({
    pending: 0,
    processing: 1,
    done: 1,
    failed: 0,
    complete: false,
  });
});

test("a lease shorter than the work is renewed", async () => {
  const list = db.guard.workItems("slow/2026-07", { leaseMs: 1_000, maxAttempts: 1 });
  await list.add(items(1));
  const summary = await list.work({ batch: 1 }, async (item) => {
    const began = Date.now();
    // Somebody else looks for work all the time.
    while (Date.now() - began < 2_500) {
      const { rows } = await db.pool.query(
        "SELECT * FROM escapement_guard.work_take('slow/2026-07', 'thief', '1 min', 1, 9)",
      );
      expect(rows).toEqual([]);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    expect(item.signal.aborted).toBe(false);
    await item.done();
  });
  expect(summary.complete).toBe(true);
});

test("stopping gives back what was taken and not begun", async () => {
  const stop = new AbortController();
  const list = db.guard.workItems("stop/2026-07", options);
  await list.add(items(3));
  await list.work({ batch: 3, signal: stop.signal }, async (item) => {
    stop.abort();
    await item.done();
  });
  expect(await list.summary()).toMatchObject({ done: 1, pending: 2, processing: 0 });
});

test("items come in the order they were added", async () => {
  const list = db.guard.workItems("order/2026-07", options);
  await list.add([{ item: "z" }, { item: "a" }, { item: "m" }]);
  const seen: string[] = [];
  await list.work({ batch: 1 }, async (item) => {
    seen.push(item.item);
    await item.done();
  });
  expect(seen).toEqual(["z", "a", "m"]);
});

test("an item must have a name, a list a date", async () => {
  await expect(db.guard.workItems("x/2026-07", options).add([{} as { item: string }])).rejects.toMatchObject({
    code: "E_REFUSED",
  });
  await expect(db.guard.workItems("x", options).add(items(1))).rejects.toMatchObject({
    code: "E_GUARD_KEY_DATE",
  });
});
