/** What the supervisor makes of the end of a scope, and of what it is told. */
import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { expect, test } from "vitest";
import { complaintOf, scopeEnd, signalScope, startScope } from "../../src/executor/supervisor/scope-run.ts";

test.each([
  ["success", 0, null, undefined, { code: 0, signal: null, error: null }],
  ["an exit code of the job", 125, null, undefined, { code: 125, signal: null, error: null }],
  ["ended by a signal inside", 137, null, undefined, { code: null, signal: "SIGKILL", error: null }],
  ["a code above 128 that is no signal", 250, null, undefined, { code: 250, signal: null, error: null }],
  [
    "the starter itself was killed",
    null,
    "SIGKILL",
    undefined,
    { code: null, signal: "SIGKILL", error: null },
  ],
  [
    "refused by the host",
    125,
    null,
    "run-job: user x is not in /etc/escapement/job-users",
    {
      code: null,
      signal: null,
      error: "this host cannot run it: run-job: user x is not in /etc/escapement/job-users",
    },
  ],
  [
    "refused by sudo",
    1,
    null,
    "sudo: a password is required",
    { code: null, signal: null, error: "this host cannot run it: sudo: a password is required" },
  ],
  [
    "a complaint, and then it ran",
    0,
    null,
    "sudo: unable to resolve host",
    { code: 0, signal: null, error: null },
  ],
] as const)("%s", (_, code, signal, complaint, expected) => {
  expect(scopeEnd(code, signal, complaint)).toEqual(expected);
});

test("only the starter's own lines are complaints", () => {
  expect(complaintOf("run-job: no program")).toBe("run-job: no program");
  expect(complaintOf("my run-job: fine")).toBeUndefined();
});

test("the environment arrives as it was, and orders after it", async () => {
  const nasty = { PLAIN: "1", QUOTED: `it's "q" $HOME \`id\` \\`, LINES: "a\n.\nb\n" };
  // Stands in for the program of the host: evaluates what it is given, then echoes the orders.
  const script =
    'text=""; while IFS= read -r line && [ "$line" != . ]; do text="$text$line\n"; done; ' +
    'eval "$text"; printf "%s|%s|%s;" "$PLAIN" "$QUOTED" "$LINES"; while read -r order; do printf "<%s>" "$order"; done';
  const child = startScope(
    { start: ["sh", "-c", script.replaceAll("\\n", "\n")], end: ["true"], about: "" },
    [],
    nasty,
  );
  let output = "";
  child.stdout!.setEncoding("utf8").on("data", (text: string) => {
    output += text;
  });
  signalScope(child, "SIGTERM");
  signalScope(child, "SIGKILL");
  await once(child, "close");
  expect(output).toBe(`${nasty.PLAIN}|${nasty.QUOTED}|${nasty.LINES};<term><kill>`);
  expect(signalScope(child, "SIGTERM")).toBe(false);
});

test.each([
  [["--user", "root", "--unit", "escapement-job-1"], "limits must be numbers"],
  [["--unit", "sshd"], "not the name of an attempt"],
  [
    ["--unit", "escapement-job-1", "--memory-max", "1", "--tasks-max", "1", "--bound-to", "sshd.service"],
    "not a unit of ours",
  ],
  [["--what"], "unknown option"],
])("the program of the host refuses %j", (options, reason) => {
  const { status, stderr } = spawnSync("sh", ["profiles/files/run-job", ...options, "--", "true"], {
    encoding: "utf8",
    input: ".\n",
  });
  expect(stderr).toContain(reason);
  expect(status).toBe(125);
});
