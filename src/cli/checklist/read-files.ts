/** Every file that a run reads: what the digest is over, and what must be as it is in the commit. */
import { existsSync } from "node:fs";
import { isAbsolute, join, normalize } from "node:path";
import type { ResolvedJob } from "../../spec/definitions.ts";
import { findFiles } from "../../spec/find-files.ts";

interface ReadPaths {
  /** Files that were named, or found beside the cluster file. */
  readonly named: readonly string[];
  /** Of job files and of profiles. */
  readonly folders: readonly string[];
}

/** Named ones first: the first says which repository is meant. */
export async function filesOf({ named, folders }: ReadPaths): Promise<readonly string[]> {
  const files = [...named, ...(await findFiles(folders)).files];
  return [...new Set(files)];
}

/**
 * What jobs name by its path from the root: the sources of their effects and the
 * page of their policy. Also those that are missing: the commit may have them.
 */
export function namedByJobs(root: string, jobs: readonly ResolvedJob[]): readonly string[] {
  const paths = jobs.flatMap(({ definition: { docs, effects } }) => [
    ...effects.flatMap(({ sources }) => sources),
    ...(docs === undefined || /^[a-z][a-z0-9+.-]*:/i.test(docs) ? [] : [docs.split("#", 1)[0]!]),
  ]);
  const below = paths.map((path) => normalize(path)).filter((path) => isBelow(path));
  return [...new Set(below)].sort().map((path) => join(root, path));
}

/** What is there: the digest is over contents. */
export function present(files: readonly string[]): readonly string[] {
  return files.filter((file) => existsSync(file));
}

function isBelow(path: string): boolean {
  return path !== "." && path !== "" && !isAbsolute(path) && path.split("/")[0] !== "..";
}
