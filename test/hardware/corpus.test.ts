/** Outputs of real machines, where such a collection is at hand: values written down by hand, and no verdict that is too good. */
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { type OutputKind, outputKinds, readOutput } from "../../src/hardware/kinds.ts";
import { corpus, isThere } from "./corpus-case.ts";
import { machineCases } from "./corpus-machine.ts";
import { raidAndPowerCases } from "./corpus-raid-and-power.ts";

const cases = [...raidAndPowerCases, ...machineCases];

describe.skipIf(!isThere)("outputs of real machines", () => {
  test.each(cases)("$file", ({ file, kind, facts, verdicts }) => {
    const { facts: read, examination } = readOutput(kind, {
      text: readFileSync(`${corpus}${file}`, "utf8"),
      isWhole: false,
    });
    expect(read).toEqual(facts);
    const found: Record<string, string> = {};
    for (const one of examination.passed) found[one.id] = "good";
    for (const one of examination.unjudged) found[one.id] = "unknown";
    for (const one of examination.findings) found[one.id] = `bad ${one.severity}`;
    expect(found).toEqual(verdicts);
  });

  test("no kind reads another kind's output as good news", () => {
    const loud: string[] = [];
    for (const { file, kind: own } of cases)
      for (const kind of Object.keys(outputKinds) as OutputKind[]) {
        const sameGrammar = new Set(["storcli", "perccli"]);
        if (kind === own || (sameGrammar.has(kind) && sameGrammar.has(own))) continue;
        const text = readFileSync(`${corpus}${file}`, "utf8");
        for (const one of readOutput(kind, { text, isWhole: true }).examination.passed)
          loud.push(`${file} as ${kind}: ${one.id}`);
      }
    expect(loud).toEqual([]);
  });
});
