/** `escapement once` and its command: what it is told, and what becomes of how it ends. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { OnceBench } from "./once-bench.ts";
import { startOnce } from "./once-process.ts";

let bench: OnceBench;
beforeAll(async () => {
  bench = await OnceBench.open();
});
afterAll(() => bench.close());

describe("the command", () => {
  test("its output is untouched, and it learns who it is", async () => {
    const script =
      "echo out $ESCAPEMENT_JOB $ESCAPEMENT_PERIOD $ESCAPEMENT_ATTEMPT $ESCAPEMENT_SHARD_NO/$ESCAPEMENT_SHARD_COUNT $ESCAPEMENT_IDEMPOTENCY_KEY $1; echo err >&2";
    const one = await bench.run(bench.settings("env", { env: { ESCAPEMENT_FIRE_TIME: "leftover" } }), [
      "sh",
      "-c",
      script,
      "sh",
      "--json",
    ]);
    expect(one).toEqual({ exit: 0, stdout: "out env 2026-07 1 0/1 env/2026-07 --json\n", stderr: "err\n" });
  });

  test("its failure is exit 1, with its code; it is not repeated until asked for", async () => {
    const job = bench.marking("fails", "exit 7");
    const first = await bench.run(bench.settings("fails"), job.command);
    expect(first.exit).toBe(1);
    expect(first.stderr).toMatch(/fails\/2026-07: the command ended with 7/);
    const second = await bench.run(bench.settings("fails"), job.command);
    expect(second.exit).toBe(1);
    expect(second.stderr).toMatch(/failed on .*ended with 7.*--rerun-after-failure/);
    expect(job.times()).toBe(1);
    expect(
      (await bench.run(bench.settings("fails", { more: ["--rerun-after-failure"] }), ["true"])).exit,
    ).toBe(0);
    expect(await bench.stateOf("fails")).toMatchObject({ state: "done", attempt: 2 });
  });

  test("not found: 69, and a host that has it still runs it", async () => {
    const missing = await bench.run(bench.settings("missing"), ["no-such-program"]);
    expect(missing.exit).toBe(69);
    expect(missing.stderr).toMatch(/no-such-program is not installed/);
    expect((await bench.run(bench.settings("missing"), ["true"])).exit).toBe(0);
  });

  test("found but not startable: 69, and the run is given back", async () => {
    const file = join(bench.folder, "broken-interpreter");
    writeFileSync(file, "#!/no/such/interpreter\n", { mode: 0o755 });
    expect((await bench.run(bench.settings("broken"), [file])).exit).toBe(69);
    expect(await bench.stateOf("broken")).toMatchObject({ state: "ready" });
    expect((await bench.run(bench.settings("broken"), ["true"])).exit).toBe(0);
  });

  test("a lease shorter than the run is renewed", async () => {
    const settings = bench.settings("long", { lease: "2s" });
    const long = startOnce(settings, ["sleep", "4"]);
    await bench.begun("long");
    const thief = bench.marking("thief");
    let isOver = false;
    void long.exit.then(() => (isOver = true));
    while (!isOver) {
      const other = await bench.run({ ...settings, more: ["--rerun-after-crash"] }, thief.command);
      expect(other.exit).toBe(0);
    }
    expect(await long.exit).toBe(0);
    expect(thief.times()).toBe(0);
  });

  test("processes that it leaves behind are killed, and it is told", async () => {
    const job = bench.beating("left");
    const one = await bench.run(bench.settings("left"), [
      "sh",
      "-c",
      `'${job.command[0]}' -e '${job.command[2]}' & sleep 0.4`,
    ]);
    expect(one.exit).toBe(0);
    expect(one.stderr).toMatch(/left processes behind/);
    const count = job.lines().length;
    expect(count).toBeGreaterThan(0);
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(job.lines()).toHaveLength(count);
  });
});
