/** Runs saved outputs against what a person read in them. */
import { describe, expect, test } from "vitest";
import { readOutput } from "../../src/hardware/kinds.ts";
import type { SavedOutput } from "../cases/hardware/saved-output.ts";

export const GiB = 1024 ** 3;
export const known = (value: unknown) => ({ known: value });
export const some = (value: Record<string, unknown>): unknown => expect.objectContaining(value);

/** Facts, and every verdict that is not good: "check severity" or "check unknown". */
export type Expectation = readonly [facts: unknown, verdicts: readonly string[]];

export function testOutputs(
  outputs: readonly SavedOutput[],
  expected: Readonly<Record<string, Expectation>>,
): void {
  test("every saved output has values written down, and the other way round", () => {
    expect(outputs.map(({ name }) => name).sort()).toEqual(Object.keys(expected).sort());
  });
  describe("saved outputs", () => {
    test.each(outputs)("$name", ({ name, kind, text }) => {
      const [facts, verdicts] = expected[name]!;
      const { facts: read, examination } = readOutput(kind, { text, isWhole: true });
      // Order within a list of devices is not a fact.
      if (kind === "lsblk") {
        const list = (read as { known: unknown[] }).known;
        const want = (facts as { known: unknown[] }).known;
        expect(list).toHaveLength(want.length);
        for (const one of want) expect(list).toContainEqual(one);
      } else expect(read).toEqual(facts);
      const said = [
        ...examination.findings.map((one) => `${one.id} ${one.severity}`),
        ...examination.unjudged.map((one) => `${one.id} unknown`),
      ];
      expect(said.sort()).toEqual([...verdicts].sort());
    });
  });
}
