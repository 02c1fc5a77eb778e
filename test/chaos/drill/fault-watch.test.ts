/** Watching a fault while everything else may be away. */
import { expect, it } from "vitest";
import { EscapementError } from "../../../src/base/errors.ts";
import { EvidenceBook } from "../../../src/chaos/drill/evidence.ts";
import { FaultWatch } from "../../../src/chaos/drill/fault-watch.ts";
import type { ReferenceClock } from "../../../src/chaos/drill/reference-clock.ts";
import { WatchedHost } from "../../../src/chaos/drill/watched-host.ts";
import type { DrillDefinition } from "../../../src/spec/drill-definition.ts";
import type { Database } from "../../../src/store/database.ts";
import type { ClusterSample } from "../../../src/store/drill/drill-sample.ts";
import { PretendDrillHost } from "./pretend-drill-host.ts";

const unit = "escapement-scheduler.service";
const away = async () => {
  throw new Error("the store is away");
};
const clock = { at: (ms: number) => ms, nowMs: () => 0, databaseOffset: away } as unknown as ReferenceClock;
const before: ClusterSample = {
  ...{ now: new Date(0), backlog: 0, staleWrites: 0, schedulers: [], executors: [] },
  leader: { holder: "h", node: "sched-1", epoch: 4, alive: true },
};

/** A fault on the host `sched-1`, watched with this store, stopped by hand as soon as it is on. */
async function watched(query: () => Promise<never>) {
  const door = new PretendDrillHost("sched-1");
  const targetHost = new WatchedHost(
    { name: "sched-1", addresses: [], parts: ["scheduler"], units: { scheduler: unit } },
    door,
  );
  await targetHost.look(clock);
  const { bootId } = targetHost.first!.look;
  const order = { run: "r", host: "sched-1", bootId, fault: "kill", unit } as const;
  const held = { ...order, holdSeconds: 600, limitSeconds: 900 };
  await door.begin(held);
  const abort = { backlogOver: 1_000, otherHostUnhealthy: false, freeBelowBytes: 0 };
  const book = new EvidenceBook(() => "2026-01-01T00:00:00.000Z");
  const watch = new FaultWatch({
    definition: { abort } as unknown as DrillDefinition,
    order: held,
    target: { host: "sched-1", part: "scheduler", unit },
    ...{ targetHost, others: [], before, clock, virtualAddress: undefined, reach: undefined },
    db: { query } as unknown as Database,
    book,
    stops: [AbortSignal.abort("stopped by hand")],
    say: () => {},
    onInjected: async () => {},
    // The note takes as long as the fault: who waits for it first waits for ten minutes.
    onRestoring: () => door.idle(),
  });
  return { watch, book };
}

it("a host is told to restore although nobody can note it: the store may be what is away", async () => {
  const { watch } = await watched(away);
  expect(await watch.run()).toMatchObject({ state: "ended", halted: "stopped by hand" });
});

it.each([
  ["does not answer", new EscapementError("E_STORE_UNAVAILABLE", { reason: "cut" }), true],
  ["answers that it will not", Object.assign(new Error("permission denied"), { code: "42501" }), false],
])("a store that %s: gone is %j", async (_, error, gone) => {
  const { watch, book } = await watched(() => Promise.reject(error));
  await watch.run();
  await watch.sample();
  expect(book.has({ see: "store-gone", from: "controller" })).toBe(gone);
});
