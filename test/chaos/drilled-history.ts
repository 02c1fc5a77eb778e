/** A small right history of a drill, as a run writes it: 12 fires of 2 shards, one fault over most of them. */
import type { History } from "../../src/chaos/history.ts";
import { isoAt } from "./history-generator.ts";

const fires = 12;
const everyMs = 5_000;
const workMs = 3_000;

export function drilledHistory(): History {
  const history: History = {
    readAt: isoAt(600_000),
    settled: true,
    limits: { earlyMs: 0, lateMs: 30_000, settleMs: 0, overlapMs: 250, killGraceMs: 1_000 },
    requirements: {
      faultKinds: ["kill"],
      phases: [],
      obligationsInFault: 5,
      attemptsHit: 1,
      refusals: 0,
    },
    obligations: [],
    executions: [],
    attempts: [],
    effects: [],
    refusals: [],
    storeRefusals: 0,
    sightings: [],
    faults: [
      {
        kind: "kill",
        target: "exec-1",
        at: isoAt(10_000),
        until: isoAt(60_000),
        proven: true,
        attemptsHit: 1,
        unsupervised: [],
      },
    ],
  };
  let seq = 0;
  for (let nth = 0; nth < fires; nth++) {
    const atMs = nth * everyMs;
    const fire = { job: "drill/probe-1", fireTime: isoAt(atMs) };
    const misfire = { policy: "run-now" as const, graceMs: 10_000 };
    history.obligations.push({ ...fire, shardCount: 2, allowed: "exactly-one", mode: "once", misfire });
    history.executions!.push({ ...fire, status: "success", trigger: "schedule" });
    for (let shardNo = 0; shardNo < 2; shardNo++) {
      const claim = { ...fire, shardNo, attempt: 1, fenceToken: nth * 2 + shardNo + 1 };
      const [startedAt, endedAt] = [isoAt(atMs), isoAt(atMs + workMs)];
      history.attempts.push({ ...claim, owner: "exec-1/1", startedAt, endedAt, status: "success" });
      history.sightings.push({ ...claim, seq: ++seq, from: startedAt, until: endedAt });
      history.effects.push({ ...claim, seq: ++seq, payload: "done" });
    }
  }
  return history;
}
