/** The acceptance tests on outputs of real hardware, where such a collection is at hand. */
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { judgeRaidCache } from "../../src/capacity/acceptance/judge-disk.ts";
import { judgeEcc, judgeMemorySpeed, parseModules } from "../../src/capacity/acceptance/judge-memory.ts";
import { judgePowerSupplies } from "../../src/capacity/acceptance/judge-power.ts";
import type { Reading } from "../../src/capacity/acceptance/verdict.ts";

const got = (text: string): Reading => ({ text, reason: "" });
const none: Reading = { text: undefined, reason: "tool: not installed" };

const corpus = fileURLToPath(new URL("../../../shared/corpus/", import.meta.url));
const isThere = existsSync(corpus);
if (!isThere) console.warn("unknown: the outputs of real hardware are not here; their tests are skipped");
describe.skipIf(!isThere)("outputs of real hardware", () => {
  const real = (file: string) => got(readFileSync(`${corpus}${file}`, "utf8"));
  test.each([
    [
      "two supplies whose state the firmware does not know",
      () => judgePowerSupplies(none, real("psu/dmidecode-type39.txt"), 2),
      "unknown",
    ],
    [
      "short sdr form says nothing about presence",
      () => judgePowerSupplies(real("psu/ipmitool-sdr-hp.txt"), none, 2),
      "unknown",
    ],
    [
      "a controller with a cache vault",
      () => judgeRaidCache(real("raid/storcli-cachevault.json"), none, none),
      "pass",
    ],
    [
      "a tool that finds no controller",
      () => judgeRaidCache(real("raid/perccli-no-controller.json"), none, got("")),
      "fail",
    ],
    ["no-battery write cache", () => judgeRaidCache(none, real("raid/ssacli-P408i-a.txt"), none), "fail"],
    [
      "a server's modules below their rated speed",
      () => judgeMemorySpeed(real("memory/dmidecode-dell-r740.txt")),
      "fail",
    ],
    ["its error correction", () => judgeEcc(real("memory/dmidecode-dell-r740.txt"), none), "pass"],
  ] as const)("%s", (_, judge, status) => {
    expect(judge()).toMatchObject({ status });
  });
  test("a server's modules are counted, its empty slots are not", () => {
    expect(
      parseModules(readFileSync(`${corpus}memory/dmidecode-dell-r740.txt`, "utf8")).length,
    ).toBeGreaterThan(1);
  });
});
