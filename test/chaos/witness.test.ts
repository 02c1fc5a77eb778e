import { spawn } from "node:child_process";
import { connect } from "node:net";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Witness, witnessJob } from "../../src/chaos/witness.ts";
import { until } from "../support/until.ts";

let witness: Witness;
let holdMs = { begin: 0, effect: 0 };
const fire = { job: "settle", fireTime: "2026-03-01T02:00:00.000Z", shardNo: 3 };

beforeEach(async () => {
  holdMs = { begin: 0, effect: 0 };
  witness = await Witness.start({ now: Date.now, holdMs: (_, answered) => holdMs[answered] });
});
afterEach(() => witness.close());

interface Claim {
  attempt: number;
  token: number;
  mode?: "once" | "replace";
}

/** Starts the real job program as an executor would. */
function startJob({ attempt, token, mode = "replace" }: Claim) {
  const child = spawn("bash", ["--norc", "-c", witnessJob], {
    env: {
      PATH: "/usr/bin:/bin",
      WITNESS_PORT: String(witness.port),
      WITNESS_MODE: mode,
      ESCAPEMENT_JOB: fire.job,
      ESCAPEMENT_FIRE_TIME: fire.fireTime,
      ESCAPEMENT_SHARD_NO: String(fire.shardNo),
      ESCAPEMENT_ATTEMPT: String(attempt),
      ESCAPEMENT_FENCE_TOKEN: String(token),
      ESCAPEMENT_INCARNATION: `executor-of-${token}`,
      ESCAPEMENT_IDEMPOTENCY_KEY: "settle/2026-03",
    },
    stdio: "inherit",
  });
  const exited = new Promise<number | NodeJS.Signals>((resolve) =>
    child.once("exit", (code, signal) => resolve(code ?? signal!)),
  );
  return { child, exited };
}

const closed = (count: number) =>
  until(() => witness.sightings.filter((row) => row.until !== null).length === count, {
    what: `${count} ended`,
  });

test("sees an attempt begin, act and end", async () => {
  expect(await startJob({ attempt: 1, token: 70 }).exited).toBe(0);
  await closed(1);
  expect(witness.effects).toEqual([
    { ...fire, attempt: 1, fenceToken: 70, seq: 2, payload: "settle/2026-03/3" },
  ]);
  expect(witness.sightings).toMatchObject([{ ...fire, attempt: 1, fenceToken: 70, seq: 1 }]);
  expect(witness.sightings[0]!.from <= witness.sightings[0]!.until!).toBe(true);
  expect(witness.strange).toEqual([]);
});

test("learns of a SIGKILL before and after the act", async () => {
  holdMs = { begin: 60_000, effect: 0 };
  const before = startJob({ attempt: 1, token: 70 });
  await until(() => witness.live().some((claim) => !claim.acted && claim.owner === "executor-of-70"), {
    what: "begin",
  });
  before.child.kill("SIGKILL");
  await closed(1);
  holdMs = { begin: 0, effect: 60_000 };
  const after = startJob({ attempt: 2, token: 71 });
  await until(() => witness.live().some((claim) => claim.acted && claim.fenceToken === 71), {
    what: "the act",
  });
  after.child.kill("SIGKILL");
  await closed(2);
  expect(await after.exited).toBe("SIGKILL");
  expect(witness.live()).toEqual([]);
  expect(witness.effects.map((row) => row.fenceToken)).toEqual([71]);
});

test("refuses a frozen attempt that acts after its successor has only begun", async () => {
  holdMs = { begin: 300, effect: 0 };
  const frozen = startJob({ attempt: 1, token: 70 });
  await until(() => witness.live().length === 1, { what: "begin" });
  frozen.child.kill("SIGSTOP");
  holdMs = { begin: 60_000, effect: 0 };
  const successor = startJob({ attempt: 2, token: 71 });
  await until(() => witness.live().length === 2, { what: "the successor" });
  expect(witness.live().map((claim) => [claim.fenceToken, witness.isSuperseded(claim)])).toEqual([
    [70, true],
    [71, false],
  ]);
  frozen.child.kill("SIGCONT");
  expect(await frozen.exited).toBe(76);
  expect(witness.refusals).toMatchObject([{ fenceToken: 70, reason: "stale" }]);
  expect(witness.effects).toEqual([]);
  successor.child.kill("SIGKILL");
  await successor.exited;
});

test("accepts a recomputation by a newer claim, and keeps both", async () => {
  for (const [i, token] of [70, 75].entries()) {
    expect(await startJob({ attempt: i + 1, token }).exited).toBe(0);
  }
  expect(witness.effects.map((row) => [row.fenceToken, row.payload])).toEqual([
    [70, "settle/2026-03/3"],
    [75, "settle/2026-03/3"],
  ]);
});

test("has no unique index: one claim that acts twice is recorded twice", async () => {
  for (const _ of [1, 2]) expect(await startJob({ attempt: 1, token: 70 }).exited).toBe(0);
  expect(witness.effects).toHaveLength(2);
});

test("in mode once refuses the repeat as a receiver with idempotency keys does", async () => {
  for (const [i, token] of [70, 75].entries()) {
    expect(await startJob({ attempt: i + 1, token, mode: "once" }).exited).toBe(0);
  }
  expect(witness.effects.map((row) => row.fenceToken)).toEqual([70]);
  expect(witness.refusals).toMatchObject([{ fenceToken: 75, reason: "repeat" }]);
});

test.each([
  "effect before-begin",
  "begin replace settle 2026-03-01T02:00:00Z 0 1 70 me",
  "begin twice settle 2026-03-01T02:00:00.000Z 0 1 70 me",
  "begin replace settle 2026-03-01T02:00:00.000Z x 1 70 me",
  "begin replace settle 2026-03-01T02:00:00.000Z 0 1 99999999999999999 me",
  "hello",
])("keeps a strange line: %s", async (line) => {
  const socket = connect(witness.port, "127.0.0.1");
  socket.on("error", () => {});
  socket.write(`${line}\n`);
  await until(() => witness.strange.length === 1, { what: "the line" });
  expect(witness.strange).toEqual([line]);
  expect(witness.effects).toEqual([]);
  socket.destroy();
});
