/** The ledger of external calls. */
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { CallNotSent, type CallOptions, CallRefused } from "../../src/guard/index.ts";
import { type GuardDatabase, guardDatabase } from "./guard-database.ts";

let db: GuardDatabase;
beforeAll(async () => {
  db = await guardDatabase();
});
afterAll(() => db.close());

const plain: CallOptions = {
  receiver: { name: "bank", deduplicating: false },
  request: { to: "ada", amount: 5 },
  leaseMs: 30_000,
};
const deduplicating: CallOptions = { ...plain, receiver: { name: "bank", deduplicating: true } };

async function row(key: string) {
  return (await db.pool.query("SELECT * FROM escapement_guard.external_call WHERE key = $1", [key])).rows[0];
}

/** As if the process that called had been killed and its lease had ended. */
async function cutShort(key: string, options: CallOptions): Promise<void> {
  await db.pool.query("SELECT escapement_guard.call_begin($1, $2, $3, $4, '30 s')", [
    key,
    JSON.stringify(options.request),
    options.receiver.name,
    options.receiver.deduplicating,
  ]);
  await db.pool.query(
    "UPDATE escapement_guard.external_call SET lease_until = clock_timestamp() WHERE key = $1",
    [key],
  );
}

test("accepted once: the answer is kept and given to every later run", async () => {
  const call = vi.fn(async () => ({ receipt: 7, accessToken: "hidden" }));
  const first = await db.guard.externalCall("c/2026-07/1", plain, call);
  const later = await db.guard.externalCall("c/2026-07/1", plain, call);
  expect(first).toEqual({ status: "done", response: { receipt: 7, accessToken: "***" }, first: true });
  expect(later).toEqual({ ...first, first: false });
  expect(call).toHaveBeenCalledTimes(1);
});

test("refused for certain: not called again", async () => {
  const call = vi.fn(async () => Promise.reject(new CallRefused({ error: "no such account" })));
  expect(await db.guard.externalCall("c/2026-07/2", plain, call)).toEqual({
    status: "refused",
    response: { error: "no such account" },
    first: true,
  });
  expect(await db.guard.externalCall("c/2026-07/2", plain, call)).toMatchObject({
    status: "refused",
    first: false,
  });
  expect(call).toHaveBeenCalledTimes(1);
});

test("an error is doubt: a receiver that does not deduplicate is not called again, and somebody is told", async () => {
  const onInDoubt = vi.fn();
  const call = vi.fn(async () => Promise.reject(new Error("socket hang up")));
  const options = { ...plain, onInDoubt };
  expect(await db.guard.externalCall("c/2026-07/3", options, call)).toMatchObject({
    status: "in-doubt",
    reason: "socket hang up",
  });
  expect(await db.guard.externalCall("c/2026-07/3", options, call)).toMatchObject({ status: "in-doubt" });
  expect(call).toHaveBeenCalledTimes(1);
  expect(onInDoubt).toHaveBeenCalledTimes(2);
  expect(onInDoubt).toHaveBeenCalledWith({ key: "c/2026-07/3", reason: "socket hang up" });
});

test("an error is doubt: a receiver that deduplicates is called again with the same key", async () => {
  const keys: string[] = [];
  const call = async ({ key, attempt }: { key: string; attempt: number }) => {
    keys.push(key);
    if (attempt === 1) throw new Error("timeout");
    return "accepted";
  };
  expect(await db.guard.externalCall("c/2026-07/4", deduplicating, call)).toMatchObject({
    status: "in-doubt",
  });
  expect(await db.guard.externalCall("c/2026-07/4", deduplicating, call)).toMatchObject({
    status: "done",
    response: "accepted",
  });
  expect(keys).toEqual(["c/2026-07/4", "c/2026-07/4"]);
});

test("nothing sent for certain: called again, whoever the receiver is", async () => {
  const call = vi
    .fn<() => Promise<string>>()
    .mockRejectedValueOnce(new CallNotSent("refused connection"))
    .mockResolvedValueOnce("ok");
  expect(await db.guard.externalCall("c/2026-07/5", plain, call)).toMatchObject({ status: "not-sent" });
  expect(await db.guard.externalCall("c/2026-07/5", plain, call)).toMatchObject({
    status: "done",
    response: "ok",
  });
});

test("a refusal after an attempt that may have been accepted settles nothing", async () => {
  await cutShort("c/2026-07/6", deduplicating);
  const outcome = await db.guard.externalCall("c/2026-07/6", deduplicating, async () =>
    Promise.reject(new CallRefused("401")),
  );
  expect(outcome).toMatchObject({ status: "in-doubt" });
  expect(await row("c/2026-07/6")).toMatchObject({ state: "in-doubt", doubt: true });
});

test("killed in between: in doubt once its lease has ended, busy before", async () => {
  const call = vi.fn(async () => "ok");
  await db.pool.query("SELECT escapement_guard.call_begin('c/2026-07/7', $1, 'bank', false, '30 s')", [
    JSON.stringify(plain.request),
  ]);
  expect(await db.guard.externalCall("c/2026-07/7", plain, call)).toEqual({ status: "busy" });
  await db.pool.query(
    "UPDATE escapement_guard.external_call SET lease_until = clock_timestamp() WHERE key = 'c/2026-07/7'",
  );
  expect(await db.guard.externalCall("c/2026-07/7", plain, call)).toMatchObject({ status: "in-doubt" });
  expect(call).not.toHaveBeenCalled();
});

test("what the first attempt was sent as counts: saying true today does not call again", async () => {
  await cutShort("c/2026-07/8", plain);
  expect(await db.guard.externalCall("c/2026-07/8", deduplicating, async () => "ok")).toMatchObject({
    status: "in-doubt",
  });
});

test("busyWaitMs waits for the other process", async () => {
  let answer: ((text: string) => void) | undefined;
  const slow = db.guard.externalCall(
    "c/2026-07/9",
    plain,
    () => new Promise<string>((resolve) => (answer = resolve)),
  );
  // The row is pending a moment before the call is made.
  await expect.poll(() => answer).toBeDefined();
  expect(await row("c/2026-07/9")).toMatchObject({ state: "pending" });
  const waiting = db.guard.externalCall(
    "c/2026-07/9",
    { ...plain, busyWaitMs: 20_000 },
    async () => "second",
  );
  answer?.("first");
  expect(await slow).toMatchObject({ response: "first", first: true });
  expect(await waiting).toMatchObject({ response: "first", first: false });
});

test("another request under the same key is an error, another order of its fields is not", async () => {
  await db.guard.externalCall("c/2026-07/10", plain, async () => "ok");
  const reordered = { ...plain, request: { amount: 5, to: "ada" } };
  expect(await db.guard.externalCall("c/2026-07/10", reordered, async () => "again")).toMatchObject({
    response: "ok",
  });
  for (const other of [
    { ...plain, request: { to: "ada", amount: 6 } },
    { ...plain, receiver: { name: "other bank", deduplicating: false } },
  ]) {
    await expect(db.guard.externalCall("c/2026-07/10", other, async () => "x")).rejects.toMatchObject({
      code: "E_GUARD_KEY_REUSED",
    });
  }
});

test("secrets are neither stored nor compared", async () => {
  const request = (password: string) => ({
    ...plain,
    request: { to: "ada", password, iban: "DE99" },
    secretFields: ["iban"],
  });
  await db.guard.externalCall("c/2026-07/11", request("one-secret"), async () => ({ cookie: "c00kie" }));
  expect(await db.guard.externalCall("c/2026-07/11", request("other-secret"), async () => "x")).toMatchObject(
    { status: "done", first: false },
  );
  expect(JSON.stringify(await row("c/2026-07/11"))).not.toMatch(/one-secret|other-secret|DE99|c00kie/);
});

test("the reason of a failure is stored without secrets", async () => {
  await db.guard.externalCall("c/2026-07/12", plain, async () =>
    Promise.reject(new Error("POST https://u:hunter2@bank failed")),
  );
  expect((await row("c/2026-07/12")).reason).toBe("POST https://u:***@bank failed");
});

test("inside a transaction it refuses before anything is sent", async () => {
  const call = vi.fn(async () => "ok");
  const { openGuard } = await import("../../src/guard/index.ts");
  const attempt = db.transaction((tx) => openGuard(tx).externalCall("c/2026-07/13", plain, call));
  await expect(attempt).rejects.toMatchObject({ code: "E_GUARD_IN_TRANSACTION" });
  expect(call).not.toHaveBeenCalled();
  expect(await row("c/2026-07/13")).toBeUndefined();
});

test("the signal aborts before the lease ends, and the late answer is still kept", async () => {
  const outcome = await db.guard.externalCall(
    "c/2026-07/14",
    { ...plain, leaseMs: 500 },
    async ({ signal }) => {
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
      await pause(200);
      return "late but accepted";
    },
  );
  expect(outcome).toMatchObject({ status: "done", response: "late but accepted" });
});

test("the answer of an attempt that was taken over is refused", async () => {
  const options = { ...deduplicating, leaseMs: 300 };
  const attempt = db.guard.externalCall("c/2026-07/15", options, async () => {
    await db.pool.query(
      "UPDATE escapement_guard.external_call SET lease_until = clock_timestamp() WHERE key = 'c/2026-07/15'",
    );
    await db.guard.externalCall("c/2026-07/15", deduplicating, async () => "second attempt");
    return "first attempt";
  });
  await expect(attempt).rejects.toMatchObject({ code: "E_GUARD_STALE" });
  expect(await row("c/2026-07/15")).toMatchObject({ state: "done", response: "second attempt" });
});

test("a call must say whether its receiver deduplicates", async () => {
  const vague = { ...plain, receiver: { name: "bank" } } as unknown as CallOptions;
  await expect(db.guard.externalCall("c/2026-07/16", vague, async () => "x")).rejects.toMatchObject({
    code: "E_REFUSED",
  });
});

test("a person's retry is beaten by the truth: a frozen caller that reports acceptance ends the matter", async () => {
  const { rows } = await db.pool.query(
    "SELECT token FROM escapement_guard.call_begin('c/2026-07/17', '1', 'bank', false, '1 ms')",
  );
  await pause(5);
  await db.pool.query(
    "SELECT escapement_guard.call_settle('c/2026-07/17', 'ready', 'me', 'not in the list')",
  );
  await db.pool.query("SELECT escapement_guard.call_done('c/2026-07/17', $1, '\"yes\"')", [rows[0].token]);
  const call = vi.fn(async () => "x");
  const options = { ...plain, request: 1 };
  expect(await db.guard.externalCall("c/2026-07/17", options, call)).toMatchObject({
    status: "done",
    response: "yes",
  });
  expect(call).not.toHaveBeenCalled();
});

test("an answer with characters that PostgreSQL can not hold is kept all the same", async () => {
  const options = { ...plain, request: { "no\0te": "a\0b \ud800" } };
  const call = vi.fn(async () => ({ body: "x\0y", half: "\udc00 🙂" }));
  const kept = { body: "x\ufffdy", half: "\ufffd 🙂" };
  expect(await db.guard.externalCall("c/2026-07/nul", options, call)).toEqual({
    status: "done",
    response: kept,
    first: true,
  });
  expect(await db.guard.externalCall("c/2026-07/nul", options, call)).toMatchObject({ response: kept });
  expect(call).toHaveBeenCalledTimes(1);
});

test("an answer that is no JSON is written down as accepted, and then complained about", async () => {
  const call = vi.fn(async () => ({ amount: 5n }));
  await expect(db.guard.externalCall("c/2026-07/bigint", deduplicating, call)).rejects.toThrow(/BigInt/);
  expect(await row("c/2026-07/bigint")).toMatchObject({ state: "done", response: null });
  expect(await db.guard.externalCall("c/2026-07/bigint", deduplicating, call)).toMatchObject({
    status: "done",
  });
  expect(call).toHaveBeenCalledTimes(1);
});

test("a lease longer than a timer can count does not abort the call at once", async () => {
  const options = { ...plain, leaseMs: 60 * 86_400_000 };
  const outcome = await db.guard.externalCall("c/2026-07/long", options, async ({ signal }) => {
    await pause(50);
    return { aborted: signal.aborted };
  });
  expect(outcome).toMatchObject({ response: { aborted: false } });
});
