/** A machine was replaced by another: its new keys go into known_hosts, and the old machine's keys go out. */
import { randomBytes } from "node:crypto";
import { chmod, realpath, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { EscapementError, messageOf } from "../base/errors.ts";
import { makeFolder } from "../base/make-folder.ts";
import { hasHashedNames, type KnownHost, knownHostsLine, parseKnownHosts } from "./known-hosts.ts";
import { readKnownHosts, readText } from "./known-hosts-files.ts";

/**
 * The text without the lines that make other keys than `blobs` known for a host of this name.
 * Of a line with several names only this one goes. Lines with a marker stay.
 * @returns the lines that cover the host by a pattern, too: nobody may cut those but a person
 */
export function withoutOldKeys(
  text: string,
  file: string,
  name: string,
  blobs: readonly Uint8Array[],
): { readonly text: string; readonly removed: number; readonly patterns: readonly KnownHost[] } {
  const isOld = (entry: KnownHost) =>
    entry.marker === undefined && entry.matches(name) && !blobs.some((blob) => entry.key.equals(blob));
  const lines: (string | undefined)[] = text.split("\n");
  const old = parseKnownHosts(text, file).entries.filter(isOld);
  for (const { line } of old) lines[line - 1] = withoutName(lines[line - 1]!, name);
  const left = parseKnownHosts(lines.map((line) => line ?? "").join("\n"), file).entries;
  return {
    text: lines.filter((line) => line !== undefined).join("\n"),
    removed: old.length,
    patterns: left.filter(isOld),
  };
}

/** Undefined where no other name is left. */
function withoutName(line: string, name: string): string | undefined {
  const [, before = "", names = "", rest = ""] = /^(\s*)(\S+)(.*)$/s.exec(line) ?? [];
  const others = names.split(",").filter((one) => one.toLowerCase() !== name);
  // A hashed name is the whole of its line; a line that had the name by a pattern alone stays as it is.
  if (names.startsWith("|") || others.length === 0) return undefined;
  return `${before}${others.join(",")}${rest}`;
}

/**
 * Replaces the keys of a host: in `files[0]`, with one rename.
 * @returns how many lines came, and how many old ones went
 * @throws E_REFUSED where another file, or a pattern, makes an old key known; nothing is changed then
 * @throws E_FILE_UNREADABLE, E_UNAVAILABLE where it cannot be written
 */
export async function replaceKnownHosts(
  files: readonly string[],
  name: string,
  blobs: readonly Uint8Array[],
): Promise<{ readonly added: number; readonly removed: number }> {
  const file = files[0]!;
  const before = await readText(file);
  const cut = withoutOldKeys(before, file, name, blobs);
  const mine = (entry: KnownHost) => entry.marker === undefined && entry.matches(name);
  const elsewhere = (await readKnownHosts(files.slice(1))).entries.filter(mine);
  const strangers = elsewhere.filter((entry) => !blobs.some((blob) => entry.key.equals(blob)));
  const stuck = [...cut.patterns, ...strangers][0];
  if (stuck)
    throw new EscapementError("E_REFUSED", {
      what: `${stuck.file}:${stuck.line} makes an old key of ${name} known, ${strangers.includes(stuck) ? "in a file that is not yours to change here" : "by a pattern that may mean other hosts, too"}`,
      hint: "nothing was written; change that line by hand, then run the command again",
    });
  const known = [...parseKnownHosts(cut.text, file).entries.filter(mine), ...elsewhere];
  const fresh = blobs.filter((blob) => !known.some((entry) => entry.key.equals(blob)));
  const lines = fresh.map(
    (blob) => `${knownHostsLine(name, blob, hasHashedNames(before) ? randomBytes(20) : undefined)}\n`,
  );
  const end = cut.text === "" || cut.text.endsWith("\n") ? "" : "\n";
  await writeWhole(file, `${cut.text}${end}${lines.join("")}`);
  return { added: fresh.length, removed: cut.removed };
}

/** A reader sees the old file or the new one; a link stays one, and so do the permissions. */
async function writeWhole(file: string, text: string): Promise<void> {
  let temporary: string | undefined;
  try {
    makeFolder(dirname(file), 0o700);
    const target = await realpath(file).catch(() => file);
    const mode = await stat(target).then(
      (found) => found.mode & 0o777,
      () => 0o600,
    );
    temporary = `${target}.${randomBytes(4).toString("hex")}`;
    await writeFile(temporary, text, { encoding: "latin1", mode: 0o600, flush: true });
    await chmod(temporary, mode);
    await rename(temporary, target);
  } catch (error) {
    if (temporary !== undefined) await rm(temporary, { force: true });
    const what = `${file} cannot be written: ${messageOf(error)}`;
    const hint = "check its permissions; no key was changed";
    throw new EscapementError("E_UNAVAILABLE", { what, hint }, { cause: error });
  }
}
