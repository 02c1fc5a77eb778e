/** Who has the virtual address: what one host sees of itself, and what the rows say. */
import { randomUUID } from "node:crypto";
import type { networkInterfaces } from "node:os";
import { expect, test } from "vitest";
import { holdsAddress } from "../../src/scheduler/virtual-address.ts";
import { listSchedulers, noteScheduler } from "../../src/store/scheduler-row.ts";
import { Bench } from "../store/bench.ts";

const cards = {
  eth0: [{ address: "10.0.0.11" }, { address: "10.0.0.100" }, { address: "fe80::1%eth0" }],
  eth1: [{ address: "fd00:0:0::5" }],
} as unknown as ReturnType<typeof networkInterfaces>;

test.each<[string | undefined, boolean | null]>([
  ["10.0.0.100", true],
  ["10.0.0.10", false],
  ["fd00::5", true],
  ["FD00:0::0:5", true],
  ["fd00::6", false],
  [undefined, null],
])("%s is held: %s", (address, held) => {
  expect(holdsAddress(address, () => cards)).toBe(held);
});

test("a host that cannot be looked at is unknown, and this one has its own addresses", () => {
  const blind = () => {
    throw new Error("uv_interface_addresses returned Unknown system error 97");
  };
  expect(holdsAddress("10.0.0.100", blind)).toBeNull();
  expect(holdsAddress("127.0.0.1")).toBe(true);
});

test("two holders are two rows that say so; what was seen long ago says nothing", async () => {
  const { db } = await Bench.open();
  const row = (node: string) => ({
    ...{ incarnation: randomUUID(), node, host: node, pid: 1, version: "0", timeZoneData: "2025c" },
    ...{ role: "standby" as const, http: null, offsetMs: 0 },
  });
  const [a, b, c] = [row("a"), row("b"), row("c")];
  await noteScheduler(db, { ...a, holdsVirtualAddress: true });
  await noteScheduler(db, { ...b, holdsVirtualAddress: false });
  await noteScheduler(db, c);
  const held = async () => (await listSchedulers(db)).map((one) => one.holdsVirtualAddress);
  expect(await held()).toEqual([true, false, null]);
  expect((await listSchedulers(db)).map((one) => one.virtualAddressSeenAt !== null)).toEqual([
    true,
    true,
    false,
  ]);

  await noteScheduler(db, { ...b, holdsVirtualAddress: true });
  expect(await held()).toEqual([true, true, null]);

  // It could not look: no answer, and the time of the last look stays.
  const before = (await listSchedulers(db))[1]!.virtualAddressSeenAt;
  await noteScheduler(db, { ...b, holdsVirtualAddress: null });
  expect(await held()).toEqual([true, null, null]);
  expect((await listSchedulers(db))[1]!.virtualAddressSeenAt).toEqual(before);

  await db.query(
    "UPDATE escapement.scheduler SET virtual_address_seen_at = clock_timestamp() - interval '16 s' WHERE node = 'a'",
  );
  expect(await held()).toEqual([null, null, null]);
});
