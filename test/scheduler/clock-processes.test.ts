/** Two real schedulers, one of which loses its clock. */
import { expect, test } from "vitest";
import { findClockLibrary } from "../../src/lab/process-clock.ts";
import { startProcessCluster } from "../../src/lab/process-cluster.ts";
import { unavailable } from "../support/tier.ts";
import { until } from "../support/until.ts";

const clocksMissing = unavailable("the process-level clock", findClockLibrary() !== undefined);
const patient = { deadlineMs: 90_000 };

test.skipIf(clocksMissing)(
  "a leader whose clock is off by two seconds is not ready, and leaves the lead to the other",
  async () => {
    const cluster = await startProcessCluster({
      schedulers: 2,
      executors: 1,
      clocks: true,
      scheduler: { lease: "3s", renewEvery: "500ms", stopEarly: "500ms", lookAhead: "10s" },
      postgresSettings: { fsync: "off" },
    });
    try {
      const leader = await until(() => cluster.leader(), { ...patient, what: "a leader" });
      const { httpUrl } = cluster.node(leader.node);
      const status = async () => (await fetch(`${httpUrl}/readyz`)).status;
      await until(async () => (await status()) === 200, { ...patient, what: "a ready leader" });
      await cluster.setClock(leader.node, 2_000);
      await until(
        async () => {
          const next = await cluster.leader();
          return next !== undefined && next.epoch > leader.epoch && next.node !== leader.node;
        },
        { ...patient, what: "the other one leading" },
      );
      const answer = await fetch(`${httpUrl}/readyz`);
      expect(answer.status).toBe(503);
      expect(await answer.text()).toContain("clock");
      // Right again, it is ready again.
      await cluster.setClock(leader.node, 0);
      await until(async () => (await status()) === 200, { ...patient, what: "readiness with a right clock" });
    } finally {
      expect(await cluster.down()).toEqual({ strays: 0 });
    }
  },
  240_000,
);
