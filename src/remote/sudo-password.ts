/** The password for sudo, from a file that nobody else can read. */
import { open } from "node:fs/promises";
import { EscapementError, messageOf } from "../base/errors.ts";
import type { RemoteTarget } from "./remote.ts";

/**
 * @returns undefined where the target names no file
 * @throws E_HOST_SUDO when the file cannot be read, is open to others, belongs to another user or is empty
 */
export async function readSudoPassword(target: RemoteTarget): Promise<string | undefined> {
  const { sudoPasswordFile: file, host, user } = target;
  if (file === undefined) return undefined;
  const fail = (reason: string, hint: string) =>
    new EscapementError("E_HOST_SUDO", { host, user, reason: `${file} ${reason}`, hint });
  let text: string;
  try {
    const handle = await open(file, "r");
    try {
      // Of the opened file, not of the path: nothing can be exchanged in between.
      const { mode, uid } = await handle.stat();
      if ((mode & 0o077) !== 0) throw fail("is readable by others", `chmod 600 ${file}`);
      if (process.getuid && uid !== process.getuid())
        throw fail("belongs to another user", "let the file belong to the user who runs this command");
      text = await handle.readFile("utf8");
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (error instanceof EscapementError) throw error;
    throw fail(
      `cannot be read: ${messageOf(error)}`,
      "write the password into it, or leave sudoPasswordFile out",
    );
  }
  const password = text.replace(/\r?\n$/, "");
  if (password === "" || /[\r\n\0]/.test(password))
    throw fail("must hold the password on one line", `write the password into ${file}`);
  return password;
}
