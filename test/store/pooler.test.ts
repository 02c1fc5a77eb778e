/** The whole path of a fire through pgbouncer in transaction mode, with fewer server connections than clients. */
import { describe, expect, inject, test } from "vitest";
import { findPgbouncer, startPgbouncer } from "../../src/lab/pgbouncer.ts";
import { Database } from "../../src/store/database.ts";
import { openDue } from "../../src/store/opening.ts";
import { hashed, testJob } from "../support/job.ts";
import { unavailable } from "../support/tier.ts";
import { Bench } from "./bench.ts";

describe.skipIf(unavailable("pgbouncer", findPgbouncer() !== undefined))("through pgbouncer", () => {
  test("plan, open, claim, complete, all at once by many clients over two server connections", async () => {
    const bouncer = await startPgbouncer({ serverUrl: inject("postgresUrl"), poolSize: 2 });
    const direct = await Bench.open();
    const bench = direct.through(bouncer.through(direct.url));
    try {
      const job = await bench.apply(
        testJob("pooled", { ...hashed(20), blocking: { policy: "queue", maxQueued: 5 } }),
      );
      await bench.plan(job, [await bench.at(-4_000), await bench.at(-2_000)]);
      const executors = await Promise.all([1, 2, 3, 4].map(() => bench.executor()));
      const others = executors.map(() => new Database(bouncer.through(direct.url), { maxConnections: 1 }));
      let rounds = 0;
      while ((await bench.live(job)).length > 0) {
        rounds += 1;
        expect(rounds).toBeLessThan(200);
        await Promise.all(others.map((other) => openDue(other)));
        await Promise.all(
          executors.map(async (executor) =>
            bench.complete(executor, await bench.claim(executor, { limit: 3 })),
          ),
        );
      }
      await Promise.all(others.map((other) => other.end()));
      expect(await bench.statuses(job)).toEqual(["success", "success"]);
      expect(await bench.staleWrites()).toEqual([]);
    } finally {
      await bench.db.end();
      await bouncer.stop();
    }
  });
});
