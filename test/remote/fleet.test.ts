/** Many hosts at once: every host has its own result, whatever happens to the others. */
import { expect, test } from "vitest";
import { EscapementError } from "../../src/base/errors.ts";
import { sleep } from "../../src/base/monotonic.ts";
import {
  type FakeFaults,
  FakeHost,
  type FakeHostOptions,
  fakeConnector,
} from "../../src/remote/fake-remote.ts";
import { fleetExitCode, type HostResult, runFleet } from "../../src/remote/fleet.ts";
import { localTarget } from "./local-target.ts";

const deadlineMs = 500;
const target = (host: string) => ({ ...localTarget, host, connectTimeoutMs: 100 });

function fleetOf(hosts: Record<string, FakeHostOptions>) {
  const machines = new Map(Object.entries(hosts).map(([name, options]) => [name, new FakeHost(options)]));
  return { machines, connect: fakeConnector(machines), targets: Object.keys(hosts).map(target) };
}

test("every kind of trouble is one host's own, and the others go on", async () => {
  const faults: Record<string, FakeFaults> = {
    unreachable: { connect: "unreachable" },
    hang: { connect: "hang" },
    "key-unknown": { connect: "key-unknown" },
    "key-changed": { connect: "key-changed" },
    "key-revoked": { connect: "key-revoked" },
    auth: { connect: "auth" },
    sudo: { sudo: "refused" },
    password: { sudo: "wrong-password" },
    dies: { dieInCommand: 2 },
    slow: { slowMs: 60_000 },
    full: { upload: "disk-full" },
    corrupted: { upload: "corrupted" },
    fine: {},
  };
  const { connect, targets, machines } = fleetOf(
    Object.fromEntries(Object.entries(faults).map(([name, one]) => [name, { faults: one }])),
  );
  const bytes = new TextEncoder().encode("x");
  const sha256 = "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881";
  const results = await runFleet({
    connect,
    targets: [...targets, target("nowhere"), target("bug")].map((one) => one),
    work: async (remote) => {
      await remote.exec({ argv: ["id", "-u"], asRoot: true, deadlineMs });
      await remote.upload({ content: { bytes }, path: "/x", mode: 0o600, sha256, deadlineMs });
      return (await remote.exec({ argv: ["cat", "/x"], deadlineMs })).stdout;
    },
  });
  expect(
    Object.fromEntries(
      results.map((one) => [one.host, "code" in one ? `${one.status} ${one.code}` : one.value]),
    ),
  ).toEqual({
    unreachable: "unreachable E_HOST_UNREACHABLE",
    hang: "unreachable E_HOST_UNREACHABLE",
    "key-unknown": "unreachable E_HOST_KEY_UNKNOWN",
    "key-changed": "unreachable E_HOST_KEY_CHANGED",
    "key-revoked": "unreachable E_HOST_KEY_REVOKED",
    auth: "unreachable E_HOST_AUTH",
    sudo: "failed E_HOST_SUDO",
    password: "failed E_HOST_SUDO",
    dies: "unknown E_HOST_LOST",
    slow: "failed E_HOST_TIMEOUT",
    full: "failed E_HOST_UPLOAD",
    corrupted: "failed E_HOST_UPLOAD",
    fine: "x",
    nowhere: "unreachable E_HOST_UNREACHABLE",
    bug: "unreachable E_HOST_UNREACHABLE",
  });
  expect(machines.get("dies")!.dead).toBe(true);
  expect(machines.get("full")!.files.size).toBe(0);
});

test("an error that is not ours, and one in telling about it, stay with their host", async () => {
  const { connect, targets } = fleetOf({ a: {}, b: {} });
  const results = await runFleet({
    connect,
    targets,
    work: async ({ host }) => {
      if (host === "a") throw new TypeError("x is not a function");
      return host;
    },
    onResult: () => {
      throw new Error("nobody listens");
    },
  });
  expect(results).toMatchObject([
    { host: "a", status: "failed", code: "E_BUG" },
    { status: "ok", value: "b" },
  ]);
});

test("five hundred hosts: no more at once than allowed, results in order, every one told once", async () => {
  const names = Array.from({ length: 500 }, (_, i) => `host-${i}`);
  const { connect, targets, machines } = fleetOf(
    Object.fromEntries(
      names.map((name, i) => [
        name,
        { roundTripMs: 1, ...(i % 7 === 0 && { faults: { connect: "auth" } }) } as FakeHostOptions,
      ]),
    ),
  );
  let atOnce = 0;
  let most = 0;
  const told: string[] = [];
  const results = await runFleet({
    connect,
    targets,
    concurrency: 40,
    work: async (remote) => {
      most = Math.max(most, ++atOnce);
      const { stdout } = await remote.exec({ argv: ["echo", remote.host], deadlineMs: 20_000 });
      atOnce--;
      return stdout.trim();
    },
    onResult: ({ host }, done, all) => {
      told.push(host);
      expect([done, all]).toEqual([told.length, 500]);
    },
  });
  expect(results.map(({ host }) => host)).toEqual(names);
  expect(results.filter(({ status }) => status === "ok")).toHaveLength(500 - 72);
  for (const result of results) if (result.status === "ok") expect(result.value).toBe(result.host);
  expect([...told].sort()).toEqual([...names].sort());
  expect(most).toBeLessThanOrEqual(40);
  expect(most).toBeGreaterThan(20);
  expect([...machines.values()].every(({ connections }) => connections <= 1)).toBe(true);
});

test("a stop ends what runs, skips the rest, and keeps what was done", async () => {
  const { connect, targets } = fleetOf({ a: {}, b: {}, c: {}, d: {} });
  const stop = new AbortController();
  const closed: string[] = [];
  const results = await runFleet<string>({
    connect: async (one) => {
      const remote = await connect(one);
      return Object.assign(Object.create(remote), {
        host: one.host,
        close: async () => void closed.push(one.host),
      });
    },
    targets,
    concurrency: 2,
    signal: stop.signal,
    work: async ({ host }) => {
      if (host === "b") stop.abort();
      if (host !== "a") await sleep(60_000, stop.signal).then(() => sleep(60_000));
      return host;
    },
  });
  expect(results.map(({ status }) => status)).toEqual(["ok", "skipped", "skipped", "skipped"]);
  expect(fleetExitCode(results)).toBe(130);
  expect(closed).toEqual(["a", "b"]);
});

test.each<[string, HostResult<unknown>["status"][], number]>([
  ["all ok", ["ok", "ok"], 0],
  ["some", ["ok", "failed"], 3],
  ["none could be reached", ["unreachable", "unreachable"], 69],
  ["all failed", ["failed", "unreachable"], 1],
  ["no hosts", [], 0],
])("exit code: %s", (_, statuses, code) => {
  const results = statuses.map((status) => ({ host: "x", durationMs: 1, status }) as HostResult<unknown>);
  expect(fleetExitCode(results)).toBe(code);
});

test("a fake host can be scripted, also while it runs", async () => {
  const host = new FakeHost({
    answer: ({ argv, stdin }) =>
      argv[0] === "sh" ? { stdout: `ran ${String(stdin).length} bytes`, exitCode: 2 } : undefined,
  });
  const remote = await fakeConnector(new Map([["here", host]]))(localTarget);
  expect(await remote.exec({ argv: ["sh", "-s"], stdin: "script", deadlineMs })).toMatchObject({
    stdout: "ran 6 bytes",
    exitCode: 2,
  });
  host.options = { faults: { sudo: "refused" } };
  await expect(remote.exec({ argv: ["true"], asRoot: true, deadlineMs })).rejects.toBeInstanceOf(
    EscapementError,
  );
  expect(host.requests).toHaveLength(2);
});
