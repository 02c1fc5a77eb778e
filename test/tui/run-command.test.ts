/** What comes of a command that a key has started, whatever becomes of it. */
import { mkdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { type OwnProgram, runOwnCommand } from "../../src/tui/actions/run-command.ts";

const before = process.env.TMPDIR;
afterEach(() => {
  if (before === undefined) delete process.env.TMPDIR;
  else process.env.TMPDIR = before;
});

/** A program that does what the script says, in place of ours. */
function program(script: string): OwnProgram {
  return { command: [process.execPath, "-e", script, "--"], environment: process.env };
}

test.each<[what: string, script: string, ok: boolean, text: string]>([
  [
    "an answer",
    `console.log(JSON.stringify({ status: "open", runNo: 2, other: {} }))`,
    true,
    "✓ escapement rerun a: done, status open, runNo 2",
  ],
  [
    "an error",
    `console.error(JSON.stringify({ error: { message: "no such job", hint: "jobs list" } })); process.exitCode = 66`,
    false,
    "✗ escapement rerun a: no such job (jobs list)",
  ],
  ["a signal", `process.kill(process.pid, "SIGKILL")`, false, "✗ escapement rerun a: ended by SIGKILL"],
  ["an exit code alone", "process.exitCode = 99", false, "✗ escapement rerun a: ended with 99"],
])("%s", async (_, script, ok, text) => {
  expect(await runOwnCommand(program(script), ["rerun", "a", "--reason", "x"])).toMatchObject({ ok, text });
});

test("a program that is not there is a result", async () => {
  const { ok, text } = await runOwnCommand({ command: ["/nowhere/node"], environment: {} }, ["run", "a"]);
  expect([ok, text]).toEqual([false, "✗ escapement run a: spawn /nowhere/node ENOENT"]);
});

test("a machine without a folder for the answer is a result", async () => {
  process.env.TMPDIR = "/nowhere";
  const { ok, text } = await runOwnCommand(program(""), ["run", "a"]);
  expect(ok).toBe(false);
  expect(text).toContain("ENOENT");
});

test("an answer that somebody has swept away is a result", async () => {
  const folder = join(tmpdir(), `escapement-swept-${process.pid}`);
  mkdirSync(folder);
  process.env.TMPDIR = folder;
  const sweep = `require("node:fs").rmSync(${JSON.stringify(folder)}, { recursive: true })`;
  const { ok, text } = await runOwnCommand(program(sweep), ["run", "a"]);
  rmSync(folder, { recursive: true, force: true });
  expect(ok).toBe(false);
  expect(text).toContain("ENOENT");
});
