/** Tables for people: aligned, and at a terminal no wider than it. */
import { expect, test } from "vitest";
import { table } from "../../src/cli/terminal.ts";

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
