/** Which commit the definitions are of, and what their paths are relative to. */
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { realpath } from "node:fs/promises";
import { dirname, join, relative, resolve, sep } from "node:path";
import { EscapementError } from "../../base/errors.ts";
import { wayOf } from "./way.ts";

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

interface CommittedEntry {
  readonly isLink: boolean;
  readonly blob: string;
}

/**
 * Whether every file has the content that it has in the commit, and every link on
 * the way to it leads where it leads there. `git status` does not say: it passes over
 * files that are ignored or marked `assume-unchanged`, and it writes into the index.
 * @param files that were read, or would have been if they were there; as they were named
 * @param folders whose YAML files were read: one that the commit has and the folder has not is a change
 * @returns null when nobody could tell
 */
export async function isAsCommitted(
  root: string,
  files: readonly string[],
  folders: readonly string[],
): Promise<boolean | null> {
  const committed = await committedEntries(root);
  if (committed === undefined) return null;
  const within = (path: string) => relative(root, path).split(sep).join("/");
  const read = await Promise.all(files.map(wayOf));
  const passed = await Promise.all(folders.map(wayOf));

  // What the commit has below the folders, and below those that its links lead to.
  const inside = new Set(passed.map(({ end }) => within(end)));
  for (const folder of inside)
    for (const [path, { isLink }] of committed) {
      if (!isReadIn(folder, path, isLink)) continue;
      const way = await wayOf(join(root, path));
      (isYaml(path) ? read : passed).push(way);
      if (isLink && way.kind !== "file") inside.add(within(way.end));
    }
  for (const { links, folders: through } of [...read, ...passed]) {
    const ours = links.filter(({ path }) => !within(path).startsWith(".."));
    if (ours.some(({ path, text }) => !isLinkOf(committed.get(within(path)), text))) return false;
    // A folder where the commit has a link or a file.
    if (through.some((path) => committed.has(within(path)))) return false;
  }
  // One that is in neither place is no change.
  const missing = read.filter(({ kind }) => kind === "missing").map(({ end }) => within(end));
  if (missing.some((path) => beginnings(path).some((one) => committed.has(one)))) return false;
  const there = [...new Set(read.filter(({ kind }) => kind === "file").map(({ end }) => within(end)))];
  if (there.some((path) => committed.get(path)?.isLink !== false)) return false;
  if (there.length === 0) return null;
  // Line ends and the like are turned as for a commit.
  const sums = await git(root, ["hash-object", "--stdin-paths"], there.join("\n"));
  const found = sums?.split("\n");
  if (found?.length !== there.length) return null;
  return there.every((path, i) => committed.get(path)!.blob === found[i]);
}

/** By path from the root, with slashes. */
async function committedEntries(root: string): Promise<ReadonlyMap<string, CommittedEntry> | undefined> {
  const tree = await git(root, ["ls-tree", "-r", "-z", "--full-tree", "HEAD"]);
  if (tree === undefined) return undefined;
  const entries = new Map<string, CommittedEntry>();
  for (const line of tree.split("\0")) {
    const [, mode, blob, path] = /^(\d+) blob ([0-9a-f]+)\t(.+)$/s.exec(line) ?? [];
    if (path !== undefined) entries.set(path, { isLink: mode === "120000", blob: blob! });
  }
  return entries;
}

/** What git keeps of a link is its text. */
function isLinkOf(entry: CommittedEntry | undefined, text: Buffer): boolean {
  if (!entry?.isLink) return false;
  const hash = createHash(entry.blob.length === 64 ? "sha256" : "sha1");
  return hash.update(`blob ${text.length}\0`).update(text).digest("hex") === entry.blob;
}

/** As `findFiles` chooses: YAML files, and links, which may lead to folders of them. */
function isReadIn(folder: string, path: string, isLink: boolean): boolean {
  if (path === folder) return isYaml(path);
  if (folder !== "" && !path.startsWith(`${folder}/`)) return false;
  const parts = path.slice(folder === "" ? 0 : folder.length + 1).split("/");
  const through = isYaml(path) ? parts.slice(0, -1) : parts;
  return (isYaml(path) || isLink) && !through.some((part) => part.startsWith(".") || part === "node_modules");
}

function isYaml(path: string): boolean {
  return /\.ya?ml$/i.test(path);
}

/** `a`, `a/b`, `a/b/c` of `a/b/c`. */
function beginnings(path: string): readonly string[] {
  const parts = path.split("/");
  return parts.map((_, i) => parts.slice(0, i + 1).join("/"));
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
