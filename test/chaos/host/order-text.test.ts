/** An order as text: whole, readable by a shell, and never with a value that could be read otherwise. */
import fc from "fast-check";
import { expect, test } from "vitest";
import type { DrillOrder } from "../../../src/chaos/host/drill-host.ts";
import { orderText } from "../../../src/chaos/host/order-text.ts";

const order: DrillOrder = {
  run: "0d2e7c83-ca65-4e27-85c6-0ce930c9e818",
  host: "exec-1",
  bootId: "11111111-2222-3333-4444-555555555555",
  fault: "cut",
  direction: "receive",
  keep: ["10.0.0.5", "2001:db8::1"],
  holdSeconds: 30,
  limitSeconds: 45,
};
const times = { bootMs: 100_000.7, validMs: 120_000, issuedMs: Date.UTC(2026, 10, 30) };

test("an order, line by line", () => {
  expect(orderText(order, times, "ab".repeat(16)).split("\n")).toEqual([
    "escapement-drill-order 1",
    "run=0d2e7c83-ca65-4e27-85c6-0ce930c9e818",
    "host=exec-1",
    "boot=11111111-2222-3333-4444-555555555555",
    "fault=cut",
    "direction=receive",
    "keep=10.0.0.5,2001:db8::1",
    "holdSeconds=30",
    "limitSeconds=45",
    "issued=2026-11-30T00:00:00.000Z",
    "issuedBootMs=100000",
    "notBeforeBootMs=40000",
    "expiresBootMs=220000",
    `nonce=${"ab".repeat(16)}`,
    "",
  ]);
});

test("no order holds longer than 15 minutes, or from before the boot", () => {
  const long = orderText(order, { ...times, bootMs: 1_000, validMs: 86_400_000 });
  expect(long).toContain("notBeforeBootMs=0\n");
  expect(long).toContain(`expiresBootMs=${1_000 + 14 * 60_000}\n`);
});

test("every order has a nonce of its own", () => {
  expect(orderText(order, times)).not.toBe(orderText(order, times));
});

test("an empty list of addresses is no line", () => {
  expect(orderText({ ...order, keep: [] }, times)).not.toContain("keep");
});

test("whatever a value holds, it is one plain word, or there is no order", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (value) => {
      let text: string;
      try {
        text = orderText({ ...order, unit: value, path: value }, times);
      } catch (error) {
        expect(error).toMatchObject({ code: "E_BUG" });
        expect(value).not.toMatch(/^[A-Za-z0-9_.:@/,+-]+$/);
        return;
      }
      expect(text.split("\n").slice(1, -1)).toSatisfy((lines: string[]) =>
        lines.every((line) => /^[a-zA-Z]+=[A-Za-z0-9_.:@/,+-]+$/.test(line)),
      );
    }),
  );
});

test.each([1.5, Number.NaN, Number.POSITIVE_INFINITY])("%s is no number of an order", (holdSeconds) => {
  expect(() => orderText({ ...order, holdSeconds }, times)).toThrow(/holdSeconds/);
});
