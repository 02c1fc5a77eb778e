/** What the parts of the setup share: where things are, how they speak, how they fail. */
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("../../", import.meta.url));

/** Everything fetched or derived; safe to delete. src/lab/postgres-binaries.ts looks here, too. */
export const cacheFolder = fileURLToPath(new URL("../../node_modules/.cache/escapement", import.meta.url));

export function say(text) {
  console.error(`setup: ${text}`);
}

/** A failure with a hint; anything else is a bug of the script. */
export class SetupError extends Error {
  constructor(message, hint) {
    super(message);
    this.hint = hint;
  }
}
