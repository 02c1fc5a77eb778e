/** Where programs of this user keep what they can make again. */
import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";

/**
 * `$XDG_CACHE_HOME`, or `~/.cache`. A relative path in the variable counts as not
 * set, as the XDG base directory specification asks.
 */
export function cacheHome(): string {
  const asked = process.env.XDG_CACHE_HOME ?? "";
  return isAbsolute(asked) ? asked : join(homedir(), ".cache");
}
