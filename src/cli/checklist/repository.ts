/** Which commit the definitions are of, and what their paths are relative to. */
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { realpath } from "node:fs/promises";
import { dirname, join, relative, resolve, sep } from "node:path";
import { EscapementError } from "../../base/errors.ts";

/** `clean`: the files are those of the commit; null when nobody could tell. */
export interface CheckedCommit {
  readonly id: string | null;
  readonly clean: boolean | null;
}

/**
 * @param files that were read: the first says which repository is meant
 * @returns the root, absolute: without git the working directory
 * @param commit of `--commit`; in a repository it must be the one that is checked out
 * @throws E_BAD_VALUE
 */
export async function findRepository(
  files: readonly string[],
  commit?: string,
): Promise<{ readonly root: string; readonly id: string | null; readonly hasGit: boolean }> {
  const folder = dirname(await realpath(files[0] ?? ".").catch(() => resolve(".")));
  const root = await git(folder, ["rev-parse", "--show-toplevel"]);
  const wanted = commit?.toLowerCase();
  if (root === undefined) return { root: process.cwd(), id: wanted ?? null, hasGit: false };
  const id = (await git(root, ["rev-parse", "HEAD"])) ?? null;
  if (wanted !== undefined && id !== null && !id.startsWith(wanted))
    throw new EscapementError("E_BAD_VALUE", {
      option: "--commit",
      value: wanted,
      expected: `the commit that is checked out, ${id}`,
      hint: "leave it out inside a repository",
    });
  return { root, id: id ?? wanted ?? null, hasGit: true };
}

/**
 * Whether every file has the content that it has in the commit. `git status` does
 * not say: it passes over files that are ignored or marked `assume-unchanged`.
 * @param files that were read, or would have been if they were there
 * @param folders whose YAML files were read: one that the commit has and the folder has not is a change
 * @returns null when nobody could tell
 */
export async function isAsCommitted(
  root: string,
  files: readonly string[],
  folders: readonly string[],
): Promise<boolean | null> {
  const tree = await git(root, ["ls-tree", "-r", "-z", "--full-tree", "HEAD"]);
  if (tree === undefined) return null;
  const committed = new Map<string, string>();
  for (const [, blob, path] of tree.matchAll(/\d+ blob ([0-9a-f]+)\t([^\0]+)\0?/g))
    committed.set(path!, blob!);

  const real = await Promise.all(files.map((file) => pathFrom(root, file)));
  const read = new Set(real);
  const there = real.filter((path) => existsSync(join(root, path)));
  // One that is in neither place is no change.
  if (there.some((path) => !committed.has(path))) return false;
  if (real.some((path) => committed.has(path) && !existsSync(join(root, path)))) return false;
  for (const folder of await Promise.all(folders.map((one) => pathFrom(root, one))))
    if ([...committed.keys()].some((path) => isYamlIn(folder, path) && !existsSync(join(root, path))))
      return false;
  // A link that leads elsewhere by now is a change, whatever lies there. Paths outside are told of above.
  const named = files.map((file) => relative(root, resolve(file))).filter((path) => !path.startsWith(".."));
  const status = ["--literal-pathspecs", "status", "--porcelain", "--untracked-files=no", "--", ...named];
  const changes = named.length > 0 ? await git(root, status) : "";
  if (changes === undefined) return null;
  if (changes !== "") return false;
  const unique = [...read].filter((path) => committed.has(path));
  if (unique.length === 0) return null;
  // Line ends and the like are turned as for a commit.
  const sums = await git(root, ["hash-object", "--stdin-paths"], unique.join("\n"));
  const found = sums?.split("\n");
  if (found?.length !== unique.length) return null;
  return unique.every((path, i) => committed.get(path) === found[i]);
}

function isYamlIn(folder: string, path: string): boolean {
  return /\.ya?ml$/i.test(path) && (folder === "" || path === folder || path.startsWith(`${folder}/`));
}

/** With slashes; begins with `..` when the file lies elsewhere. */
export async function pathFrom(root: string, file: string): Promise<string> {
  const real = await realpath(file).catch(() => resolve(file));
  return relative(root, real).split(sep).join("/");
}

/** What it printed; undefined when there is no git, no repository or no answer in time. */
function git(folder: string, args: readonly string[], input = ""): Promise<string | undefined> {
  return new Promise((resolveOutput) => {
    // Somebody else may own the folder; we only read.
    const options = { cwd: folder, timeout: 10_000, maxBuffer: 64 * 1024 * 1024 };
    const child = execFile("git", ["-c", "safe.directory=*", ...args], options, (error, stdout) =>
      resolveOutput(error ? undefined : stdout.trim()),
    );
    // Without git there is nobody to write to; that is told above.
    child.stdin?.on("error", () => {});
    child.stdin?.end(input);
  });
}
