/** Lines about unknowns: what a kind of host can never have is told once, everything else by itself. */
import { expect, test } from "vitest";
import { unknownLines } from "../../../src/cli/provision/needs.ts";

const unknowns = [
  "sysctl:vm.swappiness  needs-vm: a container cannot set vm.swappiness",
  "unit:huge-pages.service  waits for file:/etc/huge-pages.service: needs-vm: a container cannot set it",
  "sysctl:kernel.pid_max: needs-vm: a container cannot set kernel.pid_max",
  "file:/etc/cluster.yaml  the cores are not known: lscpu is not installed",
  "power  needs-metal: nobody to ask",
];

test("what a container cannot have is one line, and what can be mended stays", () => {
  expect(unknownLines(unknowns, false).map(plain)).toEqual([
    "  ? file:/etc/cluster.yaml  the cores are not known: lscpu is not installed",
    "  ? 3 cannot be judged in a container (needs-vm); --all lists them",
    "  ? 1 cannot be judged without real hardware (needs-metal); --all lists it",
  ]);
});

test("all of them, when asked", () => {
  expect(unknownLines(unknowns, true).map(plain)).toEqual(unknowns.map((line) => `  ? ${line}`));
});

function plain(line: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: colour codes start with ESC
  return line.replace(/\x1b\[[0-9;]*m/g, "");
}
