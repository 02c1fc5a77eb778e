/** The acceptance tests on outputs of real hardware, where such a collection is at hand. */
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { parseModules } from "../../src/capacity/acceptance/machine-text.ts";
import { fromText, got, none } from "./acceptance-from-text.ts";

const corpus = fileURLToPath(new URL("../../../shared/corpus/", import.meta.url));
const isThere = existsSync(corpus);
if (!isThere) console.warn("unknown: the outputs of real hardware are not here; their tests are skipped");
describe.skipIf(!isThere)("outputs of real hardware", () => {
  const real = (file: string) => got(readFileSync(`${corpus}${file}`, "utf8"));
  test.each([
    [
      "two supplies whose state the firmware does not know",
      () => fromText.powerSupplies(none, real("psu/dmidecode-type39.txt"), 2),
      "unknown",
    ],
    [
      "short sdr form says nothing about presence",
      () => fromText.powerSupplies(real("psu/ipmitool-sdr-hp.txt"), none, 2),
      "unknown",
    ],
    [
      "a controller with a cache vault",
      () => fromText.raidCache(real("raid/storcli-cachevault.json"), none, none),
      "pass",
    ],
    [
      "a tool that finds no controller",
      () => fromText.raidCache(real("raid/perccli-no-controller.json"), none, got("")),
      "fail",
    ],
    ["no-battery write cache", () => fromText.raidCache(none, real("raid/ssacli-P408i-a.txt"), none), "fail"],
    [
      "a server's modules below their rated speed",
      () => fromText.memorySpeed(real("memory/dmidecode-dell-r740.txt")),
      "fail",
    ],
    ["its error correction", () => fromText.ecc(real("memory/dmidecode-dell-r740.txt"), none), "pass"],
  ] as const)("%s", (_, judge, status) => {
    expect(judge()).toMatchObject({ status });
  });
  test("a server's modules are counted, its empty slots are not", () => {
    expect(
      parseModules(readFileSync(`${corpus}memory/dmidecode-dell-r740.txt`, "utf8")).length,
    ).toBeGreaterThan(1);
  });
});
