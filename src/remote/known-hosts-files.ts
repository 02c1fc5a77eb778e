/** The known_hosts files of a target: read before a connection, added to by `hosts trust`. */
import { randomBytes } from "node:crypto";
import { open, readFile } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { EscapementError, messageOf } from "../base/errors.ts";
import { makeFolder } from "../base/make-folder.ts";
import {
  hasHashedNames,
  judgeKey,
  type KnownHost,
  type KnownHostsFlaw,
  knownHostsLine,
  parseKnownHosts,
} from "./known-hosts.ts";

/** Where keys are looked for when neither the inventory nor the ssh configuration says it. */
export function defaultKnownHostsFiles(): readonly string[] {
  return [join(homedir(), ".ssh", "known_hosts"), "/etc/ssh/ssh_known_hosts"];
}

/**
 * Reads all of them; one that does not exist has no keys.
 * @throws E_FILE_UNREADABLE for one that exists and cannot be read: it may revoke a key
 */
export async function readKnownHosts(
  files: readonly string[],
): Promise<{ readonly entries: readonly KnownHost[]; readonly flaws: readonly KnownHostsFlaw[] }> {
  const entries: KnownHost[] = [];
  const flaws: KnownHostsFlaw[] = [];
  for (const file of files) {
    const parsed = parseKnownHosts(await readText(file), file);
    entries.push(...parsed.entries);
    flaws.push(...parsed.flaws);
  }
  return { entries, flaws };
}

/**
 * Appends a line for each key the file does not have yet, with one write of the
 * whole: two programs that append at once both succeed, and nobody reads half a line.
 * @returns how many lines were added
 * @throws E_FILE_UNREADABLE, E_UNAVAILABLE where it cannot be written
 */
export async function addKnownHosts(
  file: string,
  name: string,
  blobs: readonly Uint8Array[],
): Promise<number> {
  const before = await readText(file);
  const { entries } = parseKnownHosts(before, file);
  const fresh = blobs.filter((blob) => judgeKey(entries, name, blob).verdict !== "known");
  if (fresh.length === 0) return 0;
  const lines = fresh.map((blob) =>
    knownHostsLine(name, blob, hasHashedNames(before) ? randomBytes(20) : undefined),
  );
  const text = `${before === "" || before.endsWith("\n") ? "" : "\n"}${lines.join("\n")}\n`;
  try {
    makeFolder(dirname(file), 0o700);
    const handle = await open(file, "a", 0o600);
    try {
      await handle.write(text);
      await handle.sync();
    } finally {
      await handle.close();
    }
  } catch (error) {
    const what = `${file} cannot be written: ${messageOf(error)}`;
    const hint = "check its permissions; no key was added";
    throw new EscapementError("E_UNAVAILABLE", { what, hint }, { cause: error });
  }
  return fresh.length;
}

/** Empty where there is none. @throws E_FILE_UNREADABLE */
export async function readText(file: string): Promise<string> {
  try {
    return await readFile(file, "latin1");
  } catch (error) {
    if ((error as { code?: string }).code === "ENOENT") return "";
    throw new EscapementError("E_FILE_UNREADABLE", { file, reason: messageOf(error) }, { cause: error });
  }
}
