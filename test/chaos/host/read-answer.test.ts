/** What a host prints, well and badly: parsed whole, or an error that says what was not understood. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { isEscapementError } from "../../../src/base/errors.ts";
import {
  readAudit,
  readEvent,
  readHalt,
  readLook,
  readProgress,
  readReach,
  readTime,
} from "../../../src/chaos/host/read-answer.ts";

const line = (seq: number, event = "proof") =>
  JSON.stringify({
    seq,
    event,
    wallMs: 1_764_000_000_000,
    bootMs: 5_000,
    detail: { inEffect: true, pid: 7 },
  });

test("progress: a state, then the events after the known one", () => {
  const { state, events } = readProgress("a", `state running\n${line(3)}\n${line(4, "restored")}\n`, 2);
  expect(state).toBe("running");
  expect(events.map(({ seq, event }) => [seq, event])).toEqual([
    [3, "proof"],
    [4, "restored"],
  ]);
  expect(readProgress("a", "state none\n", 0)).toEqual({ state: "none", events: [] });
});

test("a last line that is still being written is left for the next time", () => {
  expect(readProgress("a", `state running\n${line(1)}\n${line(2).slice(0, 30)}`, 0).events).toHaveLength(1);
});

test.each([
  ["no state", line(1)],
  ["a state nobody knows", "state asleep\n"],
  ["a gap", `state running\n${line(1)}\n${line(3)}\n`],
  ["a repetition", `state running\n${line(1)}\n${line(1)}\n`],
  ["half a line in the middle", `state running\n${line(1).slice(0, 20)}\n${line(2)}\n`],
  ["an event nobody knows", `state running\n${line(1, "exploded")}\n`],
  ["nothing", ""],
])("progress with %s is an error", (_, text) => {
  expect(() => readProgress("exec-1", text, 0)).toThrow(/exec-1/);
});

test("look: everything it says, and what a newer host says besides", () => {
  const text = [
    "now 1764000000123 26683800",
    "bootId 11111111-2222-3333-4444-555555555555",
    "address 10.0.0.5",
    "address fe80::1",
    "unit a.service active 42 S 3",
    "free 1048576 /srv/with blank",
    "timeDaemon chrony.service true unknown",
    "can kill true",
    "can clock needs-vm: this host may not set its clock (systemd-nspawn)",
    "weather fine",
    "running 0d2e7c83-ca65-4e27-85c6-0ce930c9e818",
    "",
  ].join("\n");
  expect(readLook("a", text)).toEqual({
    wallMs: 1_764_000_000_123,
    bootMs: 26_683_800,
    bootId: "11111111-2222-3333-4444-555555555555",
    addresses: ["10.0.0.5", "fe80::1"],
    units: { "a.service": { active: "active", mainPid: 42, processState: "S", restarts: 3 } },
    freeBytes: { "/srv/with blank": 1_048_576 },
    timeDaemon: { name: "chrony.service", running: true, synchronised: undefined },
    can: { kill: true, clock: "needs-vm: this host may not set its clock (systemd-nspawn)" },
    running: "0d2e7c83-ca65-4e27-85c6-0ce930c9e818",
  });
});

test("audit: what is left, what nobody could see, and never half an answer", () => {
  expect(
    readAudit("a", "residue nft-table table inet x is there\nunseen units: no systemctl\ndone\n"),
  ).toEqual({
    residue: [{ what: "nft-table", detail: "table inet x is there" }],
    unseen: ["units: no systemctl"],
  });
  expect(readAudit("a", "done\n")).toEqual({ residue: [], unseen: [] });
  for (const text of ["", "residue a b\n", "fine\ndone\n"]) expect(() => readAudit("a", text)).toThrow();
});

test("halt and time", () => {
  expect(readHalt("a", "halted true 60\n")).toEqual({ halted: true, restoredMs: 60 });
  expect(readTime("a", "now 12 34\n")).toEqual({ wallMs: 12, bootMs: 34 });
  expect(() => readHalt("a", "halted perhaps 60\n")).toThrow();
  expect(() => readTime("a", "later\n")).toThrow();
});

test("whatever comes instead: a value, or an error of ours", () => {
  const lines = fc.array(
    fc.oneof(
      fc.string(),
      fc.constantFrom("state running", line(1), line(2), "done", "now 1 2", "bootId x", "unit a", "can kill"),
    ),
  );
  fc.assert(
    fc.property(lines, fc.nat(3), (all, afterSeq) => {
      const text = all.join("\n");
      for (const read of [
        () => readProgress("a", text, afterSeq),
        () => readLook("a", text),
        () => readAudit("a", text),
        () => readHalt("a", text),
      ]) {
        try {
          read();
        } catch (error) {
          expect(isEscapementError(error)).toBe(true);
        }
      }
      for (const one of all) readEvent(one);
    }),
  );
});

test("reach: one answer, and nothing else is taken for one", () => {
  for (const answer of ["answers", "silent", "unknown"])
    expect(readReach("a", `reach 10.0.0.1,22 ${answer}\n`)).toBe(answer);
  // The last is what a program says that does not know the question.
  for (const text of ["", "reach 10.0.0.1,22\n", "reach 10.0.0.1,22 sometimes\n", "now 1 2\nbootId b\n"])
    expect(() => readReach("a", text), text).toThrow(/answered a drill with/);
});
