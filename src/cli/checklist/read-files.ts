/** Every file that a run reads: what the digest is over, and what must be as it is in the commit. */
import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { belowRoot, codeWords, sourcePaths } from "../../checklist/items/job-sources.ts";
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
 * What jobs name by its path from the root: the sources of their effects, the page of
 * their policy and, where they declare no effect, the code that their command names.
 * Also those that are missing: the commit may have them.
 */
export function namedByJobs(root: string, jobs: readonly ResolvedJob[]): readonly string[] {
  const paths = jobs.flatMap((job) => [
    ...sourcePaths(job),
    ...pageOf(job),
    ...codeWords(job).flatMap((word) => word.paths),
  ]);
  const below = paths.map(belowRoot).filter((path) => path !== null);
  return [...new Set(below)].sort().map((path) => join(root, path));
}

/** What is there: the digest is over contents, and a folder has none. */
export function present(files: readonly string[]): readonly string[] {
  return files.filter((file) => existsSync(file) && statSync(file).isFile());
}

function pageOf({ definition: { docs } }: ResolvedJob): readonly string[] {
  return docs === undefined || /^[a-z][a-z0-9+.-]*:/i.test(docs) ? [] : [docs.split("#", 1)[0]!];
}
