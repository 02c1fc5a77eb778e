/** The cache of the lab: whole or absent, built once, whatever happens to a builder. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { sleep } from "../../../src/base/monotonic.ts";
import { cached, cacheFolder } from "../../../src/lab/hosts/cache-entry.ts";
import { processIdentity } from "../../../src/lab/hosts/process-identity.ts";

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "escapement-cache-"));
  vi.stubEnv("XDG_CACHE_HOME", home);
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(home, { recursive: true, force: true });
});

const build = async (folder: string) => writeFileSync(join(folder, "file"), "whole");

test("what is there is not built again", async () => {
  const folder = await cached("thing", build);
  expect(readFileSync(join(folder, "file"), "utf8")).toBe("whole");
  expect(await cached("thing", () => Promise.reject(new Error("built twice")))).toBe(folder);
  expect(readdirSync(cacheFolder())).toEqual(["thing"]);
});

test("of two builders one waits, and finds it done", async () => {
  let running = 0;
  let builds = 0;
  const slow = async (folder: string) => {
    builds += 1;
    running += 1;
    expect(running).toBe(1);
    await sleep(100);
    await build(folder);
    running -= 1;
  };
  await Promise.all([cached("thing", slow), cached("thing", slow), cached("thing", slow)]);
  expect(builds).toBe(1);
});

test("a build that fails leaves nothing, and the next one starts afresh", async () => {
  const failing = async (folder: string) => {
    await build(folder);
    throw new Error("mirror gone");
  };
  await expect(cached("thing", failing)).rejects.toThrow("mirror gone");
  expect(readdirSync(cacheFolder())).toEqual([]);
  expect(existsSync(await cached("thing", build))).toBe(true);
});

test("the lock and the half-made folder of a builder that was killed are nobody's", async () => {
  const builder = spawn("sleep", ["60"]);
  const identity = processIdentity(builder.pid ?? 0);
  expect(identity).toMatch(/^\d+ \d+$/);
  builder.kill("SIGKILL");
  await once(builder, "exit");
  mkdirSync(join(cacheFolder(), "thing.building-1"), { recursive: true });
  writeFileSync(join(cacheFolder(), "thing.lock"), identity ?? "");
  await cached("thing", build);
  expect(readdirSync(cacheFolder())).toEqual(["thing"]);
});
