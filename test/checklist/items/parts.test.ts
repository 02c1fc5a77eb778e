/** Several looks of one item come to one answer a scope. */
import { expect, it } from "vitest";
import { inParts } from "../../../src/checklist/items/parts.ts";
import { answer, evidence } from "../fake-report.ts";
import { contextOf } from "../good-cluster.ts";

const scope = { kind: "cluster", name: "pay" } as const;
const parts = (...all: Parameters<typeof inParts>[1][string][]) =>
  inParts(contextOf("gone"), Object.fromEntries(all.map((part, i) => [`part ${i}`, part])), scope);

it("a part that passes with nothing to show does not hide behind the evidence of the others", async () => {
  const found = await parts(
    async () => [answer("pass", { message: "one", evidence: [evidence()] })],
    async () => [answer("pass", { message: "two", evidence: [] })],
  );
  expect(found).toMatchObject([{ verdict: "unknown", message: "shows no evidence that two" }]);
});

it("a part that cannot look is unknown, and the worst of all counts", async () => {
  const throws = async () => Promise.reject(new Error("cut off"));
  expect(await parts(async () => [answer("pass")], throws)).toMatchObject([
    { verdict: "unknown", message: "could not look at part 1: cut off" },
  ]);
  expect(await parts(throws, async () => [answer("fail")])).toMatchObject([
    { verdict: "fail", message: expect.stringMatching(/^says fail; could not look at part 0/) },
  ]);
});
