/** A cut as other hosts see it: who was answered, is not, and is again. */
import { describe, expect, it } from "vitest";
import { EvidenceBook } from "../../../src/chaos/drill/evidence.ts";
import { ReachWatch } from "../../../src/chaos/drill/reach-watch.ts";
import { WatchedHost } from "../../../src/chaos/drill/watched-host.ts";
import type { Peer, PeerAnswer } from "../../../src/chaos/host/drill-host.ts";
import type { HostPart } from "../../../src/chaos/plan/drilled-cluster.ts";
import type { DrillVariant } from "../../../src/spec/drill-definition.ts";
import { variantOf } from "./drill-scene.ts";
import { PretendDrillHost } from "./pretend-drill-host.ts";
import { cutNetwork, killExecutor } from "./variants.ts";

const seen = { see: "unreachable", from: "another-host" } as const;
const inFault = "2026-01-01T00:00:20.000Z";
const now = () => inFault;

/** A host whose program answers as it is told to. */
class AskedHost extends PretendDrillHost {
  says: PeerAnswer | Error = "answers";
  readonly peers: Peer[] = [];

  override async reach(peer: Peer): Promise<PeerAnswer> {
    this.peers.push(peer);
    if (this.says instanceof Error) throw this.says;
    return this.says;
  }
}

function hosts(...names: readonly (readonly [name: string, part: HostPart])[]) {
  const doors = new Map(names.map(([name]) => [name, new AskedHost(name)]));
  const watched = names.map(([name, part], nth) => {
    const host = { name, addresses: [`10.0.0.${nth + 1}`], sshPort: 2_200 + nth, parts: [part], units: {} };
    return new WatchedHost(host, doors.get(name)!);
  });
  return { watched, target: watched[0]!, door: (name: string) => doors.get(name)! };
}

const pair = () => hosts(["exec-1", "executor"], ["exec-2", "executor"]);
const bookAt = () => new EvidenceBook(() => "2026-01-01T00:01:00.000Z");

async function course(answers: readonly [PeerAnswer | Error, PeerAnswer | Error, PeerAnswer | Error]) {
  const { watched, target, door } = pair();
  const watch = new ReachWatch(cutNetwork, watched);
  const book = bookAt();
  const other = door("exec-2");
  [other.says] = answers;
  const before = await watch.before(target);
  other.says = answers[1];
  await watch.during(target, now);
  other.says = answers[2];
  await watch.after(target, book);
  return { before, book };
}

describe("another host", () => {
  it("is answered, is not in the fault, and is again: seen, at the instant of the silence", async () => {
    const { before, book } = await course(["answers", "silent", "answers"]);
    expect(before).toEqual({ asked: ["exec-2"], by: ["exec-2"], trouble: undefined });
    expect(book.list).toEqual([
      { ...seen, at: inFault, detail: "exec-2 got no answer from exec-1, and did before and after" },
    ]);
    expect(book.missing([seen], "cut", Date.parse(inFault))).toEqual([]);
    expect(book.missing([seen], "cut", Date.parse(inFault) - 1)).toEqual([seen]);
  });

  const lost = new Error("connection lost");
  it.each([
    ["was never answered", ["silent", "silent", "answers"]],
    ["could not try before", ["unknown", "silent", "answers"]],
    ["could not be asked before", [lost, "silent", "answers"]],
    ["is answered all along", ["answers", "answers", "answers"]],
    ["cannot try in the fault", ["answers", "unknown", "answers"]],
    ["cannot be asked in the fault", ["answers", lost, "answers"]],
    ["is never answered again", ["answers", "silent", "silent"]],
    ["cannot be asked afterwards", ["answers", "silent", lost]],
  ] as const)("%s: not seen", async (_, answers) => {
    const { book } = await course(answers);
    expect(book.list).toEqual([]);
    expect(book.missing([seen], "cut", null)).toEqual([seen]);
  });

  it("that could not be asked is told with the reason", async () => {
    const { before } = await course([lost, "silent", "answers"]);
    expect(before).toEqual({ asked: ["exec-2"], by: [], trouble: "exec-2: connection lost" });
  });

  it("is asked for the address that others know, at the port of its sshd", async () => {
    const { watched, target, door } = pair();
    await new ReachWatch(cutNetwork, watched).before(target);
    expect(door("exec-2").peers).toEqual([{ address: "10.0.0.1", port: 2_200 }]);
    expect(door("exec-1").peers).toEqual([]);
  });
});

describe("who is asked", () => {
  const site = () =>
    hosts(
      ["exec-1", "executor"],
      ["watch-1", "watchman"],
      ["store-1", "record-store"],
      ["exec-2", "executor"],
    );

  it("is the host that runs drills last: nothing of it is dropped", async () => {
    const { watched, target } = site();
    const { asked } = await new ReachWatch(cutNetwork, watched).before(target);
    expect(asked).toEqual(["store-1", "exec-2", "watch-1"]);
  });

  it("is nobody whom the cut lets through", async () => {
    const { watched, target } = site();
    const kept: DrillVariant = variantOf({
      ...cutNetwork,
      fault: { kind: "cut", direction: "both", keep: ["record-store"] },
    });
    expect((await new ReachWatch(kept, watched).before(target)).asked).toEqual(["exec-2", "watch-1"]);
  });

  it("is nobody where the drill does not want to know", () => {
    expect(ReachWatch.of(killExecutor, pair().watched)).toBeUndefined();
    expect(ReachWatch.of(cutNetwork, pair().watched)).toBeInstanceOf(ReachWatch);
  });
});
