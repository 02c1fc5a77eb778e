/** A watchman that is really killed: whatever it had decided to tell arrives. */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type RunningProcess, startProcess } from "../support/processes.ts";
import { Receiver } from "../support/receiver.ts";
import { until } from "../support/until.ts";
import { DeskRehearsal, told } from "./desk-rehearsal.ts";

const program = fileURLToPath(
  new URL(`../../node_modules/.cache/escapement/run/desk-${process.pid}.mjs`, import.meta.url),
);

beforeAll(async () => {
  await build({
    entryPoints: [fileURLToPath(new URL("./desk-program.ts", import.meta.url))],
    outfile: program,
    bundle: true,
    platform: "node",
    format: "esm",
    external: ["pg-native"],
    loader: { ".sql": "text", ".sh": "text" },
    banner: {
      js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
    },
    logLevel: "error",
  });
});
afterAll(() => rmSync(program, { force: true }));

const spec = `  rules: { late-start: { for: 0s }, store-unreachable: { for: 0s } }`;

function start(desk: DeskRehearsal, passes: number, url = desk.url): Promise<RunningProcess> {
  return startProcess([process.execPath, program, url, join(desk.folder, "watch.yaml"), String(passes)]);
}

test("killed while the receiver has not answered yet: the alert arrives from the next process", async () => {
  const receiver = await Receiver.open();
  const desk = await DeskRehearsal.open(receiver, spec);
  let victim: RunningProcess | undefined;
  receiver.answer = () => {
    victim?.kill("SIGKILL");
    return "nothing";
  };
  victim = await start(desk, 1_000);
  expect(await victim.exited).toMatchObject({ signal: "SIGKILL" });
  expect(receiver.asked).toHaveLength(1);
  // Decided, queued, claimed, and in nobody's hands.
  expect(await desk.rows("SELECT state, claimed_by FROM escapement.alert_delivery")).toEqual([
    { state: "pending", claimed_by: "w1" },
  ]);
  receiver.answer = () => ({ status: 200 });
  const next = await start(desk, 5);
  expect(await next.exited).toMatchObject({ code: 0 });
  expect(told(receiver)).toEqual(["open late-start"]);
});

test("killed after the receiver has accepted, before that is written: it arrives again, with the same id", async () => {
  const receiver = await Receiver.open();
  const desk = await DeskRehearsal.open(receiver, spec);
  let victim: RunningProcess | undefined;
  receiver.answer = () => {
    victim?.kill("SIGKILL");
    return { status: 200 };
  };
  victim = await start(desk, 1_000);
  expect(await victim.exited).toMatchObject({ signal: "SIGKILL" });
  receiver.answer = () => ({ status: 200 });
  const next = await start(desk, 5);
  expect(await next.exited).toMatchObject({ code: 0 });
  const ids = receiver.accepted.map(({ json }) => json.id);
  expect(ids.length).toBeGreaterThanOrEqual(1);
  expect(new Set(ids).size).toBe(1);
  expect(await desk.rows("SELECT state FROM escapement.alert_delivery")).toEqual([{ state: "accepted" }]);
});

test("killed at a dozen instants, with a receiver that fails half of the time: it arrives", async () => {
  const receiver = await Receiver.open();
  const desk = await DeskRehearsal.open(receiver, `${spec}\n  delivery: { retryFirst: 100ms }`);
  let count = 0;
  receiver.answer = () => ({ status: count++ % 2 === 0 ? 503 : 200 });
  for (let i = 0; i < 12; i++) {
    const victim = await start(desk, 1_000);
    await new Promise((resolve) => setTimeout(resolve, 150 + ((i * 37) % 250)));
    victim.kill("SIGKILL");
    await victim.exited;
  }
  const last = await start(desk, 100);
  await until(() => told(receiver).length > 0, { what: "the alert" });
  last.kill("SIGKILL");
  expect(new Set(told(receiver))).toEqual(new Set(["open late-start"]));
});

test("killed with the store away: the spool has it, and the next process tells it without a store", async () => {
  const receiver = await Receiver.open();
  const desk = await DeskRehearsal.open(receiver, `${spec}\n  startUpGrace: 0s`);
  const nowhere = "postgres://nobody@127.0.0.1:1/none";
  let victim: RunningProcess | undefined;
  receiver.answer = () => {
    victim?.kill("SIGKILL");
    return "nothing";
  };
  victim = await start(desk, 1_000, nowhere);
  expect(await victim.exited).toMatchObject({ signal: "SIGKILL" });
  expect(desk.spoolText()).toContain('"queued"');
  receiver.answer = () => ({ status: 200 });
  expect(await (await start(desk, 3, nowhere)).exited).toMatchObject({ code: 0 });
  expect(told(receiver)).toEqual(["open store-unreachable"]);
  // Back again: the records learn of it, nobody is told twice, and its end is told.
  expect(await (await start(desk, 3)).exited).toMatchObject({ code: 0 });
  expect(desk.spoolText()).toBe("");
  expect(await desk.rows("SELECT alert_key, state FROM escapement.alert_delivery ORDER BY 1")).toEqual([
    { alert_key: "late-start", state: "accepted" },
    { alert_key: "store-unreachable", state: "accepted" },
  ]);
  expect(told(receiver)).toEqual(["open store-unreachable", "open late-start"]);
});
