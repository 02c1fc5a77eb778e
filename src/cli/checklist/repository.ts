/** Which commit the definitions are of, and what their paths are relative to. */
import { execFile } from "node:child_process";
import { realpath } from "node:fs/promises";
import { dirname, isAbsolute, relative, resolve, sep } from "node:path";
import { EscapementError } from "../../base/errors.ts";

export interface Repository {
  /** Absolute. Without git: the working directory. */
  readonly root: string;
  readonly commit: { readonly id: string | null; readonly clean: boolean | null };
}

/**
 * @param files that were read: the first says which repository is meant
 * @param commit of `--commit`; in a repository it must be the one that is checked out
 * @throws E_BAD_VALUE
 */
export async function findRepository(files: readonly string[], commit?: string): Promise<Repository> {
  const folder = dirname(await realpath(files[0] ?? ".").catch(() => resolve(".")));
  const root = await git(folder, "rev-parse", "--show-toplevel");
  const wanted = commit?.toLowerCase();
  if (root === undefined) return { root: process.cwd(), commit: { id: wanted ?? null, clean: null } };
  const id = await git(root, "rev-parse", "HEAD");
  if (wanted !== undefined && id !== undefined && !id.startsWith(wanted))
    throw new EscapementError("E_BAD_VALUE", {
      option: "--commit",
      value: wanted,
      expected: `the commit that is checked out, ${id}`,
      hint: "leave it out inside a repository",
    });
  const real = await Promise.all(files.map((file) => realpath(file).catch(() => resolve(file))));
  const inside = real.filter((file) => isInside(root, file));
  const changes = await git(root, "status", "--porcelain", "--untracked-files=all", "--", ...inside);
  const clean = changes === undefined ? null : changes === "" && inside.length === real.length;
  return { root, commit: { id: id ?? wanted ?? null, clean } };
}

/** With slashes; begins with `..` when the file lies elsewhere. */
export async function pathFrom(root: string, file: string): Promise<string> {
  const real = await realpath(file).catch(() => resolve(file));
  return relative(root, real).split(sep).join("/");
}

function isInside(root: string, file: string): boolean {
  const path = relative(root, file);
  return path !== "" && !path.startsWith("..") && !isAbsolute(path);
}

/** What it printed; undefined when there is no git, no repository or no answer in time. */
function git(folder: string, ...args: string[]): Promise<string | undefined> {
  return new Promise((resolveOutput) => {
    // Somebody else may own the folder; we only read.
    const options = { cwd: folder, timeout: 10_000, maxBuffer: 16 * 1024 * 1024 };
    execFile("git", ["-c", "safe.directory=*", ...args], options, (error, stdout) =>
      resolveOutput(error ? undefined : stdout.trim()),
    );
  });
}
