/** The receiver of payouts: each key once, and whatever is paid twice shows in its book. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { type PayoutEndpoint, startPayoutEndpoint } from "../../src/lab/demo/payout-endpoint.ts";

let endpoint: PayoutEndpoint;
beforeAll(async () => {
  endpoint = await startPayoutEndpoint();
});
afterAll(() => endpoint.close());

const payout = {
  person: "P-1",
  pence: 2_500,
  job: "finance/bonus-payout",
  fireTime: "2026-08-01T12:00:05.000Z",
};

async function post(key: string | undefined, body: unknown = payout, method = "POST"): Promise<number> {
  const response = await fetch(endpoint.url, {
    method,
    headers: key === undefined ? {} : { "idempotency-key": key },
    ...(method === "POST" ? { body: typeof body === "string" ? body : JSON.stringify(body) } : {}),
  });
  await response.text();
  return response.status;
}

test("a repeat is answered and not paid again; another key is paid, and can be seen", async () => {
  expect(await post("a")).toBe(201);
  expect(await Promise.all([post("a"), post("a")])).toEqual([200, 200]);
  expect(endpoint.accepted).toEqual([
    {
      key: "a",
      person: "P-1",
      pence: 2_500,
      job: "finance/bonus-payout",
      fireMs: Date.parse(payout.fireTime),
    },
  ]);
  expect([endpoint.requests, endpoint.repeats, endpoint.refused]).toEqual([3, 2, 0]);
  expect(await post("b")).toBe(201);
  expect(endpoint.accepted.length).toBe(2);
});

test("two first requests at the same instant are one payout", async () => {
  const before = endpoint.accepted.length;
  expect((await Promise.all([post("c"), post("c"), post("c")])).sort()).toEqual([200, 200, 201]);
  expect(endpoint.accepted.length).toBe(before + 1);
});

test("nonsense, no key, and a known key for something else are refused and not paid", async () => {
  const before = endpoint.accepted.length;
  expect(await post(undefined)).toBe(400);
  expect(await post("d", "{")).toBe(400);
  expect(await post("d", { ...payout, pence: -1 })).toBe(400);
  expect(await post("d", { ...payout, pence: 1.5 })).toBe(400);
  expect(await post("d", payout, "GET")).toBe(400);
  expect(await post("d", "x".repeat(20_000))).toBe(400);
  expect(await post("a", { ...payout, pence: 2_501 })).toBe(422);
  expect(endpoint.accepted.length).toBe(before);
});
