/** What counts as seen, by whom and when. */
import { describe, expect, it } from "vitest";
import { askedProofs } from "../../../src/chaos/drill/asked-proof.ts";
import { EvidenceBook } from "../../../src/chaos/drill/evidence.ts";
import type { ReferenceClock } from "../../../src/chaos/drill/reference-clock.ts";
import { WatchedHost } from "../../../src/chaos/drill/watched-host.ts";
import type { DrillHost, DrillOrder, FaultKind, HostLook } from "../../../src/chaos/host/drill-host.ts";
import type { ClusterSample } from "../../../src/store/drill/drill-sample.ts";

const vip = "10.0.0.100";
const clock = { at: (ms: number) => ms } as unknown as ReferenceClock;
const unit = "escapement-scheduler.service";
const target = { host: "sched-1", part: "scheduler", unit } as const;
const moved = { see: "address-moved", from: "another-host" } as const;
const leads = { see: "leader-moved", from: "records" } as const;

function orderOf(fault: FaultKind): DrillOrder {
  return { run: "r", host: "sched-1", bootId: "b", fault, unit, holdSeconds: 30, limitSeconds: 45 };
}

type Shown = Partial<Pick<HostLook, "addresses" | "units">>;

/** A host that was looked at so before the fault, and then so. */
async function host(name: string, before: Shown, after: Shown = before): Promise<WatchedHost> {
  let shown = before;
  const door = {
    host: name,
    look: async () => ({
      ...{ bootId: "b", wallMs: 0, bootMs: 0, uncertaintyMs: 1, addresses: [], units: {} },
      ...{ timeDaemon: undefined, freeBytes: {}, can: {}, running: undefined },
      ...shown,
    }),
  } as unknown as DrillHost;
  const watched = new WatchedHost(
    { name, addresses: [], parts: ["scheduler"], units: { scheduler: unit } },
    door,
  );
  await watched.look(clock);
  watched.settleOnFirst();
  shown = after;
  await watched.look(clock);
  return watched;
}

const has = (...addresses: string[]) => ({ addresses });

/** A book, and what of the proofs is in it. */
function bookAt(at = "2026-01-01T00:00:10.000Z") {
  const now = { at };
  return { book: new EvidenceBook(() => now.at), now };
}

describe("the virtual address", () => {
  it("has moved when another host has it that had it not", async () => {
    const { book } = bookAt();
    book.noteAddress(vip, await host("sched-1", has(vip), has()), [
      await host("exec-1", has("10.0.0.21")),
      await host("sched-2", has("10.0.0.12"), has("10.0.0.12", vip)),
    ]);
    expect(book.list).toEqual([
      expect.objectContaining({ ...moved, detail: "sched-2 has 10.0.0.100, which sched-1 had" }),
    ]);
  });

  it("has moved while the former holder has it still: it may be cut off", async () => {
    const { book } = bookAt();
    book.noteAddress(vip, await host("sched-1", has(vip)), [await host("sched-2", has(), has(vip))]);
    expect(book.has(moved)).toBe(true);
  });

  it("is one address however it is written", async () => {
    const { book } = bookAt();
    book.noteAddress("2001:DB8:0::0:64", await host("sched-1", has("2001:db8::64"), has()), [
      await host("sched-2", has(), has("2001:db8::64")),
    ]);
    expect(book.has(moved)).toBe(true);
  });

  it.each([
    ["nobody has it", has(vip), has(), has(), has()],
    ["the other had it all along", has(vip), has(), has(vip), has(vip)],
    ["the target never had it", has(), has(), has(), has(vip)],
    ["another address is longer", has(vip), has(), has(), has(`${vip}1`)],
  ])("has not moved when %s", async (_, before, after, otherBefore, otherAfter) => {
    const { book } = bookAt();
    book.noteAddress(vip, await host("sched-1", before, after), [
      await host("sched-2", otherBefore, otherAfter),
    ]);
    expect(book.list).toEqual([]);
  });

  it.each([
    ["where the target has it", vip, has(vip), has(), true],
    ["where nobody has it: that is nothing sound", vip, has(), has(), true],
    ["where two have it: nobody could say that it moved", vip, has(vip), has(vip), true],
    ["not where the standby has it", vip, has(), has(vip), false],
    ["not where there is none", undefined, has(), has(), false],
  ])("is asked for %s", async (_, address, own, other, asked) => {
    const wanted = [leads, moved];
    const found = askedProofs(wanted, address, await host("sched-1", own), [await host("sched-2", other)]);
    expect(found.asked).toEqual(asked ? wanted : [leads]);
    expect(found.spared).toHaveLength(asked ? 0 : 1);
  });
});

describe("when something was seen", () => {
  const restoredAtMs = Date.parse("2026-01-01T00:00:30.000Z");
  const late = "2026-01-01T00:00:30.001Z";

  it("before the restore: proven; after it: not", () => {
    const { book, now } = bookAt();
    book.note("leader-moved", "records", "in time");
    now.at = late;
    book.note("address-moved", "another-host", "too late");
    expect(book.missing([leads, moved], "kill", restoredAtMs)).toEqual([moved]);
    expect(book.missing([leads, moved], "kill", null)).toEqual([]);
  });

  it("what the host itself measured counts whenever it is read, a reset when it is over", () => {
    const { book } = bookAt(late);
    book.note("process-gone", "target", "pid 0");
    book.note("rebooted", "controller", "boot b2");
    book.note("leader-moved", "records", "sched-2");
    const wanted = [
      { see: "process-gone", from: "target" },
      { see: "rebooted", from: "controller" },
      leads,
    ] as const;
    expect(book.missing(wanted, "kill", restoredAtMs)).toEqual([leads]);
    expect(book.missing(wanted, "power", restoredAtMs)).toEqual([]);
  });
});

describe("what the records show of a leader", () => {
  const before = sample("sched-1", 4, true);

  it("has gone, and nobody follows: the fault was there", () => {
    const { book } = bookAt();
    book.noteSample(orderOf("kill"), target, before, sample("sched-1", 4, false));
    expect(book.list.map(({ see }) => see)).toEqual(["lease-ended"]);
    expect(book.isInEffect([leads])).toBe(true);
    expect(book.isInEffect([moved, leads])).toBe(true);
    expect(book.isInEffect([leads, { see: "process-gone", from: "target" }])).toBe(false);
  });

  it("leads all along: the fault was not there", () => {
    const { book } = bookAt();
    book.noteSample(orderOf("kill"), target, before, before);
    expect(book.list).toEqual([]);
    expect(book.isInEffect([leads])).toBe(false);
  });

  it("is followed by another", () => {
    const { book } = bookAt();
    book.noteSample(orderOf("kill"), target, before, sample("sched-2", 5, true));
    expect(book.missing([leads], "kill", null)).toEqual([]);
  });

  it("says nothing of a standby that was the target", () => {
    const { book } = bookAt();
    book.noteSample(orderOf("kill"), { ...target, host: "sched-2" }, before, sample("sched-1", 4, false));
    expect(book.list).toEqual([]);
  });
});

describe("a unit that was started again", () => {
  const state = { active: "active", mainPid: 7, processState: "S", restarts: 0 };
  const again = { ...state, mainPid: 9, restarts: 1 };

  it.each([
    ["kill", ["process-gone"]],
    ["memory-limit", ["process-gone", "memory-limited"]],
  ] as const)("shows of %s: %s", async (fault, seen) => {
    const { book } = bookAt();
    const shown = await host("sched-1", { units: { [unit]: state } }, { units: { [unit]: again } });
    book.noteLook(orderOf(fault), shown, []);
    expect(book.list.map(({ see, from }) => [see, from])).toEqual(seen.map((see) => [see, "controller"]));
  });
});

it("a unit that systemd said nothing of shows nothing", async () => {
  const { book } = bookAt();
  const state = { active: "active", mainPid: 7, processState: "S", restarts: 0 };
  const unsaid = { active: "unknown", mainPid: 0, processState: "-", restarts: 0 };
  book.noteLook(
    orderOf("kill"),
    await host("sched-1", { units: { [unit]: state } }, { units: { [unit]: unsaid } }),
    [],
  );
  expect(book.list).toEqual([]);
});

function sample(node: string, epoch: number, alive: boolean): ClusterSample {
  return {
    ...{ now: new Date(0), backlog: 0, staleWrites: 0, schedulers: [], executors: [] },
    leader: { holder: alive ? "h" : null, node, epoch, alive },
  };
}
