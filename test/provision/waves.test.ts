import { expect, test } from "vitest";
import { outcome, outcomesExitCode } from "../../src/provision/apply/outcome.ts";
import { applyWaves, wavesByDomain } from "../../src/provision/apply/waves.ts";

test("one failure domain at a time, schedulers apart, the active one last", () => {
  const hosts = [
    { name: "s1", failureDomain: "a", apart: "scheduler", last: true },
    { name: "e1", failureDomain: "a" },
    { name: "s2", failureDomain: "a", apart: "scheduler" },
    { name: "e2", failureDomain: "b" },
    { name: "e3", failureDomain: "a" },
  ];
  expect(wavesByDomain(hosts)).toEqual([["e1", "s2", "e3"], ["e2"], ["s1"]]);
  expect(
    wavesByDomain([
      { name: "s1", failureDomain: "a", apart: "scheduler" },
      { name: "s2", failureDomain: "a", apart: "scheduler" },
    ]),
  ).toEqual([["s1"], ["s2"]]);
});

test("a failure stops later waves, not its own", async () => {
  const begun: string[] = [];
  const one = async (host: string) => {
    begun.push(host);
    return host === "b1" ? outcome(host, "failed", "reverted") : outcome(host, "changed", "committed");
  };
  const waves = [["a1"], ["b1", "b2"], ["c1"], ["d1"]];
  const ended = await applyWaves(waves, one);
  expect(begun).toEqual(["a1", "b1", "b2"]);
  expect(ended.map(({ status }) => status)).toEqual(["changed", "failed", "changed", "skipped", "skipped"]);
  expect(ended[4]!.reason).toBe("b1 failed before it");
  expect(outcomesExitCode(ended)).toBe(3);
  expect((await applyWaves(waves, one, { keepGoing: true })).map(({ status }) => status)).toEqual([
    "changed",
    "failed",
    "changed",
    "changed",
    "changed",
  ]);
});

test("something that could not be judged is not well", () => {
  expect(outcomesExitCode([outcome("a", "ok", "unchanged")])).toBe(0);
  expect(outcomesExitCode([outcome("a", "ok", "unchanged", { unknowns: ["x"] })])).toBe(5);
  expect(outcomesExitCode([outcome("a", "ok", "unchanged", { beyondHost: ["x"] })])).toBe(0);
  expect(outcomesExitCode([outcome("a", "ok", "unchanged", { leftToOthers: ["x"], unknowns: ["y"] })])).toBe(
    1,
  );
  expect(outcomesExitCode([outcome("a", "unreachable", "not-started")])).toBe(69);
  expect(outcomesExitCode([outcome("a", "failed", "moved")])).toBe(4);
});
