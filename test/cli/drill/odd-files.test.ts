/** Files that are none, folders that cannot be made, text that would steer a terminal: an answer, never a hang. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { runEscapement, startProcess } from "../../support/processes.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "drill-odd-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

const drill = (...args: string[]) => runEscapement(["drill", ...args], { workingFolder: folder });

describe("keygen", () => {
  test.each(["file/below", ...(process.platform === "linux" ? ["/proc/escapement-key"] : [])])(
    "where nothing can be made (%s) it is an answer with a hint, not a fault of the program",
    async (place) => {
      writeFileSync(join(folder, "file"), "");
      const { code, stderr } = await drill("keygen", "--key", place);
      expect([code, stderr]).toEqual([65, expect.stringMatching(/cannot write .*\n +hint: /)]);
    },
  );

  test("makes no folders for an inventory that is not there", async () => {
    const { code, stderr } = await drill("keygen", "-i", "nowhere/inventory.yaml");
    expect([code, stderr]).toEqual([65, expect.stringContaining("nowhere")]);
    expect(existsSync(join(folder, "nowhere"))).toBe(false);
  });
});

test("of a file that is not there no hint speaks of line and column as if every line had them", async () => {
  const { code, stderr } = await drill("plan", "kill-executor", "-i", "nowhere.yaml");
  expect([code, stderr]).toEqual([
    65,
    expect.stringMatching(/hint: each line above says what is wrong .*where/),
  ]);
});

describe("a pipe that nobody writes into", () => {
  beforeAll(() => {
    execFileSync("mkfifo", [join(folder, "pipe.yaml")]);
  });

  test.each([
    ["judge", "pipe.yaml"],
    ["list", "--drills", "."],
    ["list", "--drills", "pipe.yaml"],
  ])(
    "is bad data: drill %s %s",
    async (...args) => {
      const { code, stderr } = await drill(...args);
      expect([code, stderr]).toEqual([65, expect.stringContaining("is not a regular file")]);
    },
    60_000,
  );

  test("judge reads a pipe that the shell has opened for it, and standard input", async () => {
    const line = `"$0" "$1" drill judge <(echo '{}'); echo '{}' | "$0" "$1" drill judge /dev/stdin`;
    const program = join(import.meta.dirname, "../../../bin/escapement.mjs");
    const started = await startProcess(["bash", "-c", line, process.execPath, program]);
    await started.exited;
    // Both were read to the end: what is wrong is what stands in them.
    expect(started.stderr().match(/error E_BAD_DATA/g)).toHaveLength(2);
    expect(started.stderr()).not.toMatch(/regular file|cannot read/);
  });
});

test("what a file says cannot steer the terminal, and is left as it is in JSON", async () => {
  const text = readFileSync("chaos/kill-executor.yaml", "utf8");
  const evil = "harmless\u001b[2J\u001b]0;owned\u0007\u009b31m\u202egnp";
  writeFileSync(
    join(folder, "evil.yaml"),
    text.replace(/^ {2}description:.*$/m, `  description: ${JSON.stringify(evil)}`),
  );
  for (const args of [["show", "kill-executor"], ["list"]]) {
    const { code, stdout } = await drill(...args, "--drills", "evil.yaml");
    expect([code, stdout]).toEqual([0, expect.stringContaining("harmless [2J ]0;owned 31m gnp")]);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: that is what must not be there
    expect(stdout).not.toMatch(/[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]/);
  }
  const { stdout } = await drill("show", "kill-executor", "--drills", "evil.yaml", "--json");
  expect(JSON.parse(stdout)).toMatchObject({ description: evil });
});

test("probe says what is missing in its environment", async () => {
  const { code, stderr } = await drill("probe");
  expect([code, stderr]).toEqual([64, expect.stringContaining("WITNESS_PORT")]);
});
