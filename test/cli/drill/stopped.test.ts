/** A drill that is stopped while it asks hosts that are silent, and what keeps one from asking them at all. */
import { readFileSync, writeFileSync } from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { monotonicMs } from "../../../src/base/monotonic.ts";
import { currentDrillRun, listDrillRuns } from "../../../src/store/drill/drill-run.ts";
import { startEscapement } from "../../support/processes.ts";
import { ownProgram, PtySession } from "../../support/terminal.ts";
import { until } from "../../support/until.ts";
import { aDrillScene, db, folder, populate, withStore } from "./drill-scene.ts";

aDrillScene();

/** Every host: takes connections and says nothing, until it is told to go away. */
const silent = { sockets: new Set<Socket>(), gone: false };
let server: Server;

beforeAll(async () => {
  server = createServer((socket) => {
    socket.on("error", () => {}).once("close", () => silent.sockets.delete(socket));
    if (silent.gone) socket.destroy();
    else silent.sockets.add(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  const file = join(folder, "inventory.yaml");
  writeFileSync(file, readFileSync(file, "utf8").replaceAll(/port: \d+/g, `port: ${port}`));
});
afterAll(() => {
  goAway();
  server.close();
});
beforeEach(async () => {
  goAway();
  await until(() => silent.sockets.size === 0, { what: "hosts that nobody asks" });
  silent.gone = false;
  await populate();
});

function goAway(): void {
  silent.gone = true;
  for (const socket of silent.sockets) socket.destroy();
}

const words = ["drill", "run", "kill-executor", "--yes", "--port", "0"];
const asked = () =>
  until(() => silent.sockets.size > 0, { what: "a host that is asked", deadlineMs: 60_000 });

async function running() {
  const process = await startEscapement([...words, "--cluster", "cluster.yaml"], { workingFolder: folder });
  await asked();
  return process;
}

/** The kernel takes the terminal away as it sends SIGHUP. */
function hasTerminal(pid: number): boolean {
  const [, , , , , terminal] = readFileSync(`/proc/${pid}/stat`, "utf8").split(")").at(-1)!.split(" ");
  return terminal !== "0";
}

async function hasEndedItsRun(): Promise<void> {
  expect(await currentDrillRun(db)).toBeNull();
  // The other variant does not run.
  expect(await listDrillRuns(db)).toMatchObject([{ drill: "kill-executor/restarted", state: "ended" }]);
}

test("a second Ctrl-C leaves at once, and says what stays and what ends it", async () => {
  const one = await running();
  one.kill("SIGINT");
  await one.seen(/taking the fault back; once more to leave at once/);
  const since = monotonicMs();
  one.kill("SIGINT");
  expect((await one.exited).code).toBe(130);
  // Its hosts would be silent for much longer.
  expect(monotonicMs() - since).toBeLessThan(5_000);
  expect(one.stderr()).toMatch(/leaving; no fault is on\nerror E_DRILL_LEFT: left by SIGINT before/);
  expect(one.stderr()).toMatch(/hint: escapement drill abort --reason TEXT ends .*at most 30 s/);
  expect(one.stderr()).not.toMatch(/pool|no history|nothing is left/);
  // As it says.
  expect(await currentDrillRun(db)).toMatchObject({ drill: "kill-executor/restarted" });
}, 120_000);

describe("a terminal that closes", () => {
  test("its signal, and that of its shell: the run is ended as after one Ctrl-C", async () => {
    const one = await running();
    one.kill("SIGHUP");
    await one.seen(/taking the fault back/);
    one.kill("SIGHUP");
    goAway();
    expect((await one.exited).code).toBe(130);
    await hasEndedItsRun();
  }, 120_000);

  test("nobody hears what is said any more, and the run is ended all the same", async () => {
    const files = ["-i", "inventory.yaml", "--cluster", "cluster.yaml"].map((word) =>
      word.endsWith(".yaml") ? join(folder, word) : word,
    );
    const session = new PtySession({
      ...{ columns: 100, rows: 30 },
      command: [process.execPath, ownProgram, ...words, ...files],
    });
    try {
      await asked();
      session.order({ close: true });
      // It cannot tell us that it has heard of it, the kernel can that it was told.
      await until(() => session.exit || !hasTerminal(session.pid!), { what: "its SIGHUP" });
      goAway();
      expect(await session.ended(60_000)).toMatchObject({ code: 130, signal: null });
      await hasEndedItsRun();
    } finally {
      await session.dispose();
    }
  }, 120_000);
});

test("--out that cannot be written is told before a host is asked", async () => {
  const { code, stderr } = await withStore(...words.slice(1), "--out", "/proc/x");
  expect([code, stderr]).toEqual([65, expect.stringContaining("cannot be written to /proc/x")]);
  expect([silent.sockets.size, await listDrillRuns(db)]).toEqual([0, []]);
});

test("a port for the drill's work that is taken is a refusal with what helps", async () => {
  goAway();
  const { port } = server.address() as { port: number };
  const at = ["--address", "127.0.0.1", "--port", String(port)];
  const { code, stdout } = await withStore("run", "kill-executor", "--yes", ...at);
  expect([code, stdout]).toEqual([4, expect.stringMatching(/EADDRINUSE.*--port 0 takes any free port/s)]);
  // For the other variant it would be no different.
  expect(await listDrillRuns(db)).toMatchObject([{ outcome: "refused", targets: [] }]);
}, 120_000);
