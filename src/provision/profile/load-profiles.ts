/** Reads the profiles that come with the program and those of the site, and follows their includes. */
import { closest } from "../../spec/closest.ts";
import { documentsOf, loadFiles } from "../../spec/load.ts";
import { compareProblems, type Problem } from "../../spec/problem.ts";
import { lintProfile } from "./lint-profile.ts";
import { lintResources } from "./lint-resources.ts";
import { mergeProfiles, type ProfileDocument, type ResolvedProfile } from "./resolved-profile.ts";
import { shippedProfiles } from "./shipped-profiles.ts";

export interface ProfileSet {
  /** By name; without those that have problems. */
  readonly profiles: ReadonlyMap<string, ResolvedProfile>;
  /** What keeps a profile from being used. */
  readonly problems: readonly Problem[];
  /** What may be used and should not be. */
  readonly warnings: readonly Problem[];
}

/**
 * The profiles of the program, and in place of equal names those of the given
 * files and folders. Never throws for what is in them.
 */
export async function loadProfiles(paths: readonly string[] = []): Promise<ProfileSet> {
  const shipped = await loadFiles([shippedProfiles()]);
  const own = paths.length > 0 ? await loadFiles(paths) : { documents: [], problems: [] };
  const documents = new Map<string, ProfileDocument>();
  for (const loaded of [shipped, own]) {
    for (const document of documentsOf(loaded.documents, "HostProfile"))
      documents.set(document.value.metadata.name, document);
  }
  return resolveProfiles([...documents.values()], [...shipped.problems, ...own.problems]);
}

/** Follows the includes of documents that are right by themselves. */
export function resolveProfiles(
  documents: readonly ProfileDocument[],
  problems: readonly Problem[] = [],
): ProfileSet {
  const byName = new Map(documents.map((document) => [document.value.metadata.name, document]));
  const profiles = new Map<string, ResolvedProfile>();
  const found: Problem[] = [...problems];
  const warnings: Problem[] = [];
  for (const [name, document] of byName) {
    const chain: ProfileDocument[] = [];
    const broken = follow(document, byName, [], chain);
    if (broken) {
      found.push(broken);
      continue;
    }
    const merged = mergeProfiles(chain);
    const judged = merged.problems.length > 0 ? undefined : lintProfile(merged.profile);
    const together = judged === undefined ? [] : lintResources(merged.profile.resources);
    found.push(...merged.problems, ...(judged?.problems ?? []), ...together);
    warnings.push(...(judged?.warnings ?? []));
    if (judged?.problems.length === 0 && together.length === 0) profiles.set(name, merged.profile);
  }
  return {
    profiles,
    problems: once(found).sort(compareProblems),
    warnings: once(warnings).sort(compareProblems),
  };
}

/** A value that several profiles include is told about once, at its own place. */
function once(problems: readonly Problem[]): Problem[] {
  const seen = new Map(problems.map((one) => [JSON.stringify(one), one]));
  return [...seen.values()];
}

/** Appends the includes of a profile, farthest first, then itself; each once. @returns what is wrong with them */
function follow(
  document: ProfileDocument,
  byName: ReadonlyMap<string, ProfileDocument>,
  above: readonly string[],
  chain: ProfileDocument[],
): Problem | undefined {
  const { name } = document.value.metadata;
  if (chain.includes(document)) return undefined;
  for (const [i, wanted] of document.value.spec.includes.entries()) {
    const at = document.positionOf(["spec", "includes", i]);
    const path = `spec.includes[${i}]`;
    if ([...above, name].includes(wanted)) {
      return { ...at, path, message: `includes itself: ${[...above, name, wanted].join(" → ")}` };
    }
    const next = byName.get(wanted);
    if (!next) {
      const suggestion = closest(wanted, [...byName.keys()]);
      return {
        ...at,
        path,
        message: "is not a profile that can be used",
        value: JSON.stringify(wanted),
        ...(suggestion !== undefined && { suggestion }),
      };
    }
    const broken = follow(next, byName, [...above, name], chain);
    if (broken) return broken;
  }
  chain.push(document);
  return undefined;
}
