/** Folders that cannot be made, where something of the controller's would be kept: an answer, never a hang. */
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { lockJournal } from "../../src/cli/playbook/journal-file.ts";
import type { HostFacts } from "../../src/hardware/host-facts.ts";
import { cached } from "../../src/lab/hosts/cache-entry.ts";
import { checkOutputFolder, removeOutput } from "../../src/lab/hosts/output-files.ts";
import { DriftLog } from "../../src/provision/drift/drift-log.ts";
import { factCache } from "../../src/provision/plan/fact-cache.ts";
import { cachedProfiles } from "../../src/provision/profile/profile-cache.ts";
import { addKnownHosts } from "../../src/remote/known-hosts-files.ts";
import { replaceKnownHosts } from "../../src/remote/replace-known-hosts.ts";

let place: string;
beforeEach(() => {
  place = mkdtempSync(join(tmpdir(), "escapement-odd-"));
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(place, { recursive: true, force: true });
});

const blob = Buffer.concat([
  Buffer.from([0, 0, 0, 11]),
  Buffer.from("ssh-ed25519"),
  Buffer.from([0, 0, 0, 32]),
  Buffer.alloc(32, 7),
]);

/** Below a plain file nothing can be made; below /proc the kernel says "no such file", also to root. */
const folders = ["a file", ...(process.platform === "linux" ? ["/proc"] : [])];

describe.each(folders)("below %s", (kind) => {
  const below = () => {
    if (kind !== "a file") return "/proc/escapement-odd/deep";
    writeFileSync(join(place, "file"), "");
    return join(place, "file", "deep");
  };

  test("no line is added to known_hosts, and the reason is told", async () => {
    const file = join(below(), "known_hosts");
    const refused = { code: expect.stringMatching(/^E_(UNAVAILABLE|FILE_UNREADABLE)$/) };
    await expect(addKnownHosts(file, "exec-1", [blob])).rejects.toMatchObject(refused);
    await expect(replaceKnownHosts([file], "exec-1", [blob])).rejects.toMatchObject(refused);
  });

  test("the log of drift says that it cannot be written", async () => {
    const log = DriftLog.open(join(below(), "drift.jsonl")).then((open) =>
      open.append({ at: "2026-01-01T00:00:00.000Z", host: "exec-1", answer: "yes", deviations: [] }),
    );
    await expect(log).rejects.toMatchObject({
      code: expect.stringMatching(/^E_(UNAVAILABLE|FILE_UNREADABLE)$/),
    });
  });

  test("facts and profiles go without a cache", async () => {
    const facts = factCache(below(), "scope", 60_000);
    await facts.put("exec-1", {} as HostFacts);
    await expect(facts.get("exec-1")).resolves.toBeUndefined();
    const set = { profiles: new Map(), problems: [] };
    const load = async () => set as never;
    await expect(cachedProfiles(below(), "profiles", [], load)).resolves.toBe(set);
  });

  test("a playbook's journal is refused before anything runs", () => {
    const file = join(below(), "playbooks", "upgrade.jsonl");
    expect(() => lockJournal(file)).toThrow(expect.objectContaining({ code: "E_UNAVAILABLE" }));
  });

  test("the lab builds nothing", async () => {
    vi.stubEnv("XDG_CACHE_HOME", below());
    const build = vi.fn();
    await expect(cached("thing", build)).rejects.toMatchObject({ code: "E_UNAVAILABLE" });
    expect(build).not.toHaveBeenCalled();
  });

  test("the lab's files are refused before the lab is there, and taking it down goes past them", () => {
    const folder = below();
    expect(() => checkOutputFolder(folder)).toThrow(expect.objectContaining({ code: "E_BAD_VALUE" }));
    expect(removeOutput(folder)).toBeUndefined();
  });
});

test("a file in the place of the lab's folder is refused, and left where it is", () => {
  const file = join(place, "file");
  writeFileSync(file, "mine");
  expect(() => checkOutputFolder(file)).toThrow(expect.objectContaining({ code: "E_BAD_VALUE" }));
  expect(removeOutput(file)).toBeUndefined();
  expect(existsSync(file)).toBe(true);
});

test("looking whether a folder can be written leaves nothing behind", () => {
  checkOutputFolder(join(place, "new", "lab"));
  expect(existsSync(join(place, "new"))).toBe(false);
});
