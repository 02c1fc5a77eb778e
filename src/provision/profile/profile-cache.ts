/**
 * The profiles as they were read last: those that came with the program, and the
 * site's own. Reading them is a third of what a plan costs this machine, and they
 * seldom change. The name of the cached file is the digest of every byte that the
 * result depends on, so that nothing old is ever taken for them.
 */
import { createHash } from "node:crypto";
import { readFile, rename, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { makeFolder } from "../../base/make-folder.ts";
import { findFiles } from "../../spec/find-files.ts";
import type { SectionName } from "../../spec/host-profile-schema.ts";
import type { Position } from "../../spec/problem.ts";
import { pruneFolder } from "../plan/prune-folder.ts";
import type { ProfileSet } from "./load-profiles.ts";
import { type PlacedResource, type ResolvedProfile, Section } from "./resolved-profile.ts";

/** Programs and shipped profiles that one person uses by turns: releases, checkouts. About 100 KB each. */
const versionsKept = 8;
/** A file younger than this may be one that another process is about to rename. */
const temporaryMs = 60_000;

interface StoredSection {
  readonly name: SectionName;
  readonly value: never;
  readonly at: Position;
  readonly places: readonly (readonly [string, Position])[];
}

interface StoredProfile {
  readonly name: string;
  readonly at: Position;
  readonly sections: readonly StoredSection[];
  readonly resources: readonly PlacedResource[];
}

/**
 * @param folder of the cache
 * @param shipped the folder of the program's profiles; @param own files and folders of the site's
 * @param load reads them when there is nothing cached; only what has no problems is kept
 */
export async function cachedProfiles(
  folder: string,
  shipped: string,
  own: readonly string[],
  load: () => Promise<ProfileSet>,
): Promise<ProfileSet> {
  const key = await keyOf([[shipped], own]);
  if (key === undefined) return load();
  const file = join(folder, `profiles-${key}.json`);
  try {
    return restore(JSON.parse(await readFile(file, "utf8")));
  } catch {
    // None yet, or one that cannot be read: it is written anew.
  }
  const set = await load();
  if (set.problems.length > 0) return set;
  const temporary = `${file}.${process.pid}`;
  try {
    makeFolder(folder, 0o700);
    await writeFile(temporary, JSON.stringify(store(set)), { mode: 0o600 });
    await rename(temporary, file);
    await pruneFolder(folder, versionsKept, temporaryMs);
  } catch {
    // Without a cache they are read again: slower, and right.
  }
  return set;
}

/**
 * The files, the paths they are called by, and the program that reads them.
 * @returns undefined where a file cannot be found or read; whoever loads them says so
 */
async function keyOf(groups: readonly (readonly string[])[]): Promise<string | undefined> {
  try {
    const program = await stat(fileURLToPath(import.meta.url));
    const hash = createHash("sha256").update(`${program.size}\0${program.mtimeMs}\0`);
    for (const paths of groups) {
      const { files, problems } = await findFiles(paths);
      if (problems.length > 0) return undefined;
      const texts = await Promise.all(files.map((name) => readFile(name)));
      hash.update(`${files.length}\0`);
      for (const [i, name] of files.entries())
        hash.update(`${name}\0${texts[i]!.length}\0`).update(texts[i]!);
    }
    return hash.digest("hex").slice(0, 32);
  } catch {
    return undefined;
  }
}

function store({ profiles, warnings }: ProfileSet) {
  const stored = [...profiles.values()].map((profile): StoredProfile => {
    const { name, at, resources } = profile;
    const sections = [...profile.sections.values()].map((one) => ({
      name: one.name,
      value: one.value as never,
      at: one.at,
      places: [...one.places],
    }));
    return { name, at, sections, resources };
  });
  return { profiles: stored, warnings };
}

function restore({ profiles, warnings }: ReturnType<typeof store>): ProfileSet {
  const restored = profiles.map(({ name, at, sections, resources }): [string, ResolvedProfile] => {
    const made = sections.map((one): [SectionName, Section<SectionName>] => [
      one.name,
      new Section(one.name, one.value, one.at, new Map(one.places)),
    ]);
    return [name, { name, at, sections: new Map(made), resources }];
  });
  return { profiles: new Map(restored), problems: [], warnings };
}
