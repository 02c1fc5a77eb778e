/** Who runs this program, by name where the machine knows one. */
import { userInfo } from "node:os";

/** The login name of the process's user; in a container that has no entry for it, the number of the user as text. */
export function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return String(process.geteuid?.() ?? "unknown");
  }
}
