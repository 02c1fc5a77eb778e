/** What the acceptance tests read out of the outputs of tools. */
import { expect, test } from "vitest";
import { parseCores, parseNumaNodes, parseSockets } from "../../src/capacity/acceptance/cpu-text.ts";
import { parseFio, parsePgTestFsync } from "../../src/capacity/acceptance/disk-output.ts";

test("cores, sockets and nodes out of the kernel's texts", () => {
  const cpuinfo = [0, 1, 2, 3]
    .map((n) => `processor\t: ${n}\nphysical id\t: ${n >> 1}\ncore id\t: 0\n`)
    .join("\n");
  // Two threads a core, one core a socket.
  expect([parseCores(cpuinfo), parseSockets(cpuinfo)]).toEqual([2, 2]);
  expect(["0", "0-1", "0-3,7", "0,2", "", "x"].map(parseNumaNodes)).toEqual([
    1,
    2,
    5,
    2,
    undefined,
    undefined,
  ]);
});

test("pg_test_fsync's fdatasync with one write, and fio's operations over all jobs", () => {
  const text = `2 seconds per test
O_DIRECT supported on this platform for open_datasync and open_sync.

Compare file sync methods using one 8kB write:
(in wal_sync_method preference order, except fdatasync is Linux's default)
        open_datasync                       457.9 ops/sec    2184 usecs/op
        fdatasync                           606.7 ops/sec    1648 usecs/op
        fsync                               300.1 ops/sec    3332 usecs/op

Compare file sync methods using two 8kB writes:
        fdatasync                           1.0 ops/sec    9 usecs/op
`;
  expect(parsePgTestFsync(text)).toBe(606.7);
  expect(parsePgTestFsync("fdatasync n/a")).toBeUndefined();
  expect(
    parseFio(
      `fio: a note\n${JSON.stringify({ jobs: [{ write: { iops: 10 } }, { write: { iops: 5.5 } }] })}`,
      "write",
    ),
  ).toBe(15.5);
  expect(["", "{", '{"jobs":[]}', '{"jobs":[{"read":{}}]}'].map((one) => parseFio(one, "write"))).toEqual([
    undefined,
    undefined,
    undefined,
    undefined,
  ]);
});
