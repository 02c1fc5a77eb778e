/** Cached profiles are the ones that were read, and never older ones. */
import {
  appendFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { loadProfiles, type ProfileSet } from "../../../src/provision/profile/load-profiles.ts";
import { cachedProfiles } from "../../../src/provision/profile/profile-cache.ts";
import { shippedSet } from "./site.ts";

function bench() {
  const folder = mkdtempSync(join(tmpdir(), "escapement-profile-cache-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const shipped = join(folder, "profiles");
  cpSync("profiles", shipped, { recursive: true });
  const cache = join(folder, "cache");
  let loads = 0;
  const get = (set?: ProfileSet, own: readonly string[] = []) =>
    cachedProfiles(cache, shipped, own, async () => {
      loads += 1;
      return set ?? loadProfiles(own);
    });
  return { shipped, cache, get, loads: () => loads };
}

test("what comes back is equal, places included, and nothing is read a second time", async () => {
  const { get, loads } = bench();
  const first = await get();
  const second = await get();
  expect(loads()).toBe(1);
  expect(second).toEqual(first);
  expect(second).toEqual(await shippedSet());
  const place = (set: ProfileSet) =>
    set.profiles.get("scheduler")?.sections.get("virtualIp")?.placeOf("check.fall");
  expect(place(second)).toEqual(place(first));
  expect(place(second)).toMatchObject({ line: expect.any(Number) });
});

test("a profile that was changed, or came beside, is read; so is a cache that is broken", async () => {
  const { shipped, cache, get, loads } = bench();
  await get();
  appendFileSync(join(shipped, "scheduler.yaml"), "# changed\n");
  await get();
  expect(loads()).toBe(2);
  writeFileSync(join(shipped, "another.yaml"), "");
  await get();
  expect(loads()).toBe(3);
  for (const name of readdirSync(cache)) writeFileSync(join(cache, name), '{"profiles":7}');
  await get();
  expect(loads()).toBe(4);
  await get();
  expect(loads()).toBe(4);
});

test("profiles of the site are kept with them, and read again when one changes, goes, or is called by another path", async () => {
  const { shipped, get, loads } = bench();
  const own = join(shipped, "..", "own");
  mkdirSync(own);
  const write = (name: string, description: string) =>
    writeFileSync(
      join(own, name),
      `apiVersion: escapement/v1\nkind: HostProfile\nmetadata: { name: site }\nspec: { description: ${description} }\n`,
    );
  write("one.yaml", "first");
  const first = await get(undefined, [own]);
  expect([...first.profiles.keys()]).toContain("site");
  expect(await get(undefined, [own])).toEqual(first);
  expect(loads()).toBe(1);
  expect((await get()).profiles.has("site")).toBe(false);
  await get(undefined, [join(own, "one.yaml")]);
  expect(loads()).toBe(2);
  write("one.yaml", "second");
  await get(undefined, [own]);
  expect(loads()).toBe(3);
  rmSync(join(own, "one.yaml"));
  // Nothing is there any more: whoever loads says so, each time.
  for (const times of [4, 5]) {
    await get(undefined, [join(own, "one.yaml")]);
    expect(loads()).toBe(times);
  }
});

test("of many versions the youngest stay, and what is being written is left alone", async () => {
  const { shipped, cache, get, loads } = bench();
  const longAgo = new Date(Date.now() - 3_600_000);
  for (let version = 0; version < 12; version++) {
    appendFileSync(join(shipped, "scheduler.yaml"), `# version ${version}\n`);
    await get();
    for (const name of readdirSync(cache)) utimesSync(join(cache, name), longAgo, longAgo);
  }
  expect(readdirSync(cache)).toHaveLength(8);
  for (let i = 0; i < 10; i++) writeFileSync(join(cache, `profiles-other-${i}.json.1`), "half");
  appendFileSync(join(shipped, "scheduler.yaml"), "# the last\n");
  await get();
  expect(readdirSync(cache).filter((name) => name.endsWith(".1"))).toHaveLength(10);
  const before = loads();
  await get();
  expect(loads()).toBe(before);
});

test("profiles with problems are not kept", async () => {
  const { get, loads } = bench();
  const problem = { file: "x", line: 1, column: 1, path: "", message: "is wrong" };
  const broken: ProfileSet = { profiles: new Map(), problems: [problem], warnings: [] };
  expect(await get(broken)).toBe(broken);
  await get();
  expect(loads()).toBe(2);
});
