/** Asking a host for its time within one command: a real shell, and hosts that answer something else or nothing. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { CheckContext, HostProbe } from "../../../src/checklist/context.ts";
import { clockCommand, measuredFromHere } from "../../../src/checklist/items/host-clock.ts";
import { talk } from "../../../src/remote/fake-shell.ts";
import { connectLocal } from "../../../src/remote/local-remote.ts";
import type { Remote } from "../../../src/remote/remote.ts";
import { localTarget } from "../../remote/local-target.ts";
import { contextOf } from "../good-cluster.ts";

/** A database on the clock of this machine, and no time to look again. */
const context: CheckContext = {
  ...contextOf("none", { itemTimeoutMs: 1 }),
  store: { state: "open", db: undefined!, now: async () => new Date() },
};

const ask = (exec: HostProbe["exec"], limitMs = 5_000) =>
  measuredFromHere(
    context,
    { name: "exec-1", roles: [], failureDomain: "rack", exec },
    { limitMs, todo: "set it" },
  );

describe("a real shell", () => {
  let remote: Remote;
  let folder: string;
  beforeAll(async () => {
    remote = await connectLocal(localTarget);
    folder = mkdtempSync(join(tmpdir(), "escapement-no-bash-"));
    for (const program of ["sh", "date"])
      symlinkSync(execFileSync("which", [program], { encoding: "utf8" }).trim(), join(folder, program));
  });
  afterAll(async () => {
    await remote.close();
    rmSync(folder, { recursive: true });
  });

  it.each([
    ["with bash", () => []],
    ["without bash", () => [`PATH=${folder}`]],
  ])("tells the time of this machine: %s", async (_, path) => {
    const [env, ...rest] = clockCommand;
    const exec: HostProbe["exec"] = (_, how) => remote.exec({ argv: [env, ...path(), ...rest], ...how });
    expect(await ask(exec)).toMatchObject({
      verdict: "pass",
      message: expect.stringMatching(/measured from here/),
    });
    // A limit for which no trip is short enough: all questions are asked.
    const strict = await ask(exec, 0.001);
    expect(strict).toMatchObject({ verdict: "unknown", todo: "look again" });
    const [command, computed] = strict.evidence;
    expect(command).toMatchObject({ kind: "command", what: clockCommand.join(" "), host: "exec-1" });
    expect(command!.output).toMatch(/^1 \d{10}\.\d{6,9}(\n\d \d{10}\.\d{6,9}){7}$/);
    expect(computed!.output).toMatch(/^-?[\d.]+ ± [\d.]+ ms$/);
  });

  it("is unknown where there is no shell to ask", async () => {
    const found = await ask((_, how) => remote.exec({ argv: ["env", "no-such-shell"], ...how }));
    expect(found).toMatchObject({
      verdict: "unknown",
      message: expect.stringMatching(
        /^could not measure its clock: its command ended early with 127: .*no-such-shell/,
      ),
    });
  });
});

const now = () => (Date.now() / 1_000).toFixed(6);

describe("a host that answers otherwise", () => {
  let line = 0;
  it.each<[string, { stdout?: string; reply?: (input: string) => string; exitCode?: number }, RegExp]>([
    [
      "no fractions",
      { reply: () => "1 1790000000\n" },
      /no time with fractions of a second, but "1 1790000000"/,
    ],
    ["another number", { reply: () => `2 ${now()}\n` }, /no time/],
    ["two answers at once", { reply: () => `1 ${now()}\n2 ${now()}\n` }, /no time/],
    ["something before the answer", { stdout: "welcome\n", reply: () => `1 ${now()}\n` }, /but "welcome"/],
    ["no end of a line", { reply: () => "x".repeat(200) }, /no time/],
    ["a late exit code", { reply: () => `${++line} ${now()}\n`, exitCode: 1 }, /ended early with 1$/],
    ["the end at once", {}, /ended early with 0$/],
  ])("is unknown: %s", async (_, answer, message) => {
    line = 0;
    const found = await ask(async (_argv, { dialogue }) => {
      const stdout = (await talk(dialogue!, answer, async () => {})) ?? "";
      const exitCode = answer.exitCode ?? 0;
      return { exitCode, stdout, stderr: "", truncated: false, durationMs: 1 };
    });
    expect(found).toMatchObject({ verdict: "unknown", message: expect.stringMatching(message) });
    expect(found.evidence).toHaveLength(1);
  });

  it("is unknown where it says nothing until the time is up", async () => {
    const remote = await connectLocal(localTarget);
    const found = await ask((_, { dialogue }) =>
      remote.exec({ argv: ["sleep", "20"], deadlineMs: 500, ...(dialogue && { dialogue }) }),
    );
    await remote.close();
    expect(found).toMatchObject({ verdict: "unknown", evidence: [], todo: "make it reachable" });
  });
});
