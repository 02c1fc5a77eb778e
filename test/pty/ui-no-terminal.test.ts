/** Where the screens would break or draw nothing they do not start, and say what does work there. No store is asked. */
import { afterEach, expect, test } from "vitest";
import { runEscapement } from "../support/processes.ts";
import { ownProgram, PtySession } from "../support/terminal.ts";

const nowhere = "postgres://nobody@127.0.0.1:9/none";
let session: PtySession | undefined;

afterEach(async () => {
  await session?.dispose();
  session = undefined;
});

function start(
  environment: Readonly<Record<string, string>>,
  command: readonly [string, ...string[]] = [process.execPath, ownProgram, "ui"],
): PtySession {
  session = new PtySession({
    columns: 120,
    rows: 24,
    command,
    environment: { ESCAPEMENT_STORE_URL: nowhere, ...environment },
  });
  return session;
}

test.each<[what: string, environment: Record<string, string>, reason: string]>([
  ["TERM=dumb", { TERM: "dumb" }, "TERM is dumb"],
  ["a build machine", { CI: "true" }, "CI is set"],
  ["another build machine", { CONTINUOUS_INTEGRATION: "1" }, "CI is set"],
])("%s: no screens, but the way to plain lines", async (_, environment, reason) => {
  const terminal = start(environment);
  expect(await terminal.ended()).toMatchObject({ code: 64, modes: { same: true } });
  expect(terminal.text()).toContain(reason);
  expect(terminal.text()).toContain("escapement watch");
  expect(terminal.raw).not.toContain("\x1b[?1049h");
});

test.each([
  [
    "out of",
    `"$0" "$1" ui | cat; echo "it ended with \${PIPESTATUS[0]}"`,
    "standard output is not a terminal",
  ],
  ["into", `echo j | "$0" "$1" ui; echo "it ended with $?"`, "standard input is not a terminal"],
])("a pipe %s it, in a terminal: no screens, but the way to plain lines", async (_, script, reason) => {
  const terminal = start({}, ["bash", "-c", script, process.execPath, ownProgram]);
  expect(await terminal.ended()).toMatchObject({ modes: { same: true } });
  expect(terminal.text()).toContain(reason);
  expect(terminal.text()).toContain("escapement watch");
  expect(terminal.text()).toContain("it ended with 64");
  expect(terminal.raw).not.toContain("\x1b[?1049h");
});

test("on pipes alone: nothing on standard output, and the way to plain lines", async () => {
  const { code, stdout, stderr } = await runEscapement(["ui"], {
    environment: { ESCAPEMENT_STORE_URL: nowhere, CI: undefined },
  });
  expect({ code, stdout }).toEqual({ code: 64, stdout: "" });
  expect(stderr).toContain("E_NO_TERMINAL");
  expect(stderr).toContain("escapement watch");
});

test("an empty CI, and names that only begin like it, are no build machine", async () => {
  const terminal = start({ CI: "", CI_ROOT: "/builds", CONTINUOUS_INTEGRATION: "false" });
  await terminal.shows(/nothing has been read yet/);
  terminal.press("q");
  expect(await terminal.ended()).toMatchObject({ code: 0 });
});
