/** Tables for people: aligned, and at a terminal no wider than it. */
import { expect, test, vi } from "vitest";

vi.stubEnv("NO_COLOR", "");
vi.stubEnv("TERM", "xterm");
vi.stubEnv("FORCE_COLOR", "1");
const coloured = await import("../../src/cli/terminal.ts");
vi.resetModules();
vi.stubEnv("NO_COLOR", "1");
const { harmless, table } = await import("../../src/cli/terminal.ts");
vi.unstubAllEnvs();

const rows = [
  ["wait", "-", "does nothing: its verification is what is waited for"],
  ["run", "setting", "runs a job"],
];

test.each([
  [
    "without a terminal a row is a line",
    Number.POSITIVE_INFINITY,
    [
      "name  values   what it does",
      "wait  -        does nothing: its verification is what is waited for",
      "run   setting  runs a job",
    ],
  ],
  [
    "the last column goes on below itself",
    45,
    [
      "name  values   what it does",
      "wait  -        does nothing: its verification",
      "               is what is waited for",
      "run   setting  runs a job",
    ],
  ],
  [
    "a terminal that is too narrow for it breaks lines itself",
    30,
    [
      "name  values   what it does",
      "wait  -        does nothing: its verification is what is waited for",
      "run   setting  runs a job",
    ],
  ],
])("%s", (_, screenWidth, lines) => {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: colour codes start with ESC
  const plain = table(["name", "values", "what it does"], rows, screenWidth).replace(/\x1b\[[0-9;]*m/g, "");
  expect(plain.split("\n")).toEqual(lines);
});

test("colours of ours stay, whatever steers a terminal does not, and a cell is one line", () => {
  expect(coloured.harmless("\x1b[31mno\x1b[39m\x1b[8m \x1b[2Jx\u009b1m\u202ey\r\n\tz")).toBe(
    "\x1b[31mno\x1b[39m [8m  [2Jx 1m y \n\tz",
  );
  expect(harmless("\x1b[31mno\x1b[39m")).toBe(" [31mno [39m");
  expect(table(["a", "b"], [["one\ntwo\x1b[2J", "three"]], Number.POSITIVE_INFINITY)).toMatch(
    /^one two \[2J {2}three$/m,
  );
});
