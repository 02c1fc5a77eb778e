/** The way from a path as it is written to what it means. */
import { lstat, readlink } from "node:fs/promises";
import { dirname, isAbsolute, join } from "node:path";

/** All paths are absolute and lead over no link. */
export interface Way {
  /** Every link that it leads over, and what the link says. */
  readonly links: readonly { readonly path: string; readonly text: Buffer }[];
  /** Every folder that it leads through or to. */
  readonly folders: readonly string[];
  /** Where it ends; where nothing is there, what is looked for. */
  readonly end: string;
  readonly kind: "file" | "folder" | "missing";
}

/** More than that go round in a circle, as for the system. */
const mostLinks = 40;

/** What cannot be looked at counts as missing. */
export async function wayOf(path: string): Promise<Way> {
  const links: { path: string; text: Buffer }[] = [];
  const folders: string[] = [];
  // Not normalised: what `..` means depends on the links before it.
  const rest = partsOf(isAbsolute(path) ? path : `${process.cwd()}/${path}`);
  let end = "/";
  let kind: Way["kind"] = "folder";
  while (rest.length > 0) {
    const part = rest.shift()!;
    if (part === "..") {
      end = dirname(end);
      continue;
    }
    const next = join(end, part);
    const found = await lstat(next).catch(() => undefined);
    const text = found?.isSymbolicLink()
      ? await readlink(next, { encoding: "buffer" }).catch(() => undefined)
      : null;
    if (found === undefined || text === undefined || links.length > mostLinks)
      return { links, folders, end: join(next, ...rest), kind: "missing" };
    if (text !== null) {
      links.push({ path: next, text });
      const target = text.toString();
      if (isAbsolute(target)) end = "/";
      rest.unshift(...partsOf(target));
      // Until its own parts are gone through, what it leads to is the folder that they begin in.
      kind = "folder";
      continue;
    }
    end = next;
    kind = found.isDirectory() ? "folder" : "file";
    if (kind === "folder") folders.push(next);
  }
  return { links, folders, end, kind };
}

function partsOf(path: string): string[] {
  return path.split("/").filter((part) => part !== "" && part !== ".");
}
