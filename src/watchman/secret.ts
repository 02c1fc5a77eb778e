/** Secrets: read at every use, so that a changed file counts at once; never in a log, never in an error. */
import { readFile } from "node:fs/promises";
import { EscapementError, messageOf } from "../base/errors.ts";
import { redact } from "../base/redact.ts";
import type { SecretPlace } from "../spec/watch-definition.ts";

/** The value at a place, without the line end of a file. @throws E_FILE_UNREADABLE, E_UNAVAILABLE naming the place */
export async function readSecret(place: SecretPlace): Promise<string> {
  switch (place.from) {
    case "plain":
      return place.value;
    case "env": {
      const value = process.env[place.variable];
      if (value) return value;
      throw new EscapementError("E_UNAVAILABLE", {
        what: `the environment variable ${place.variable} is not set`,
        hint: "the watch file takes a URL or a secret from it",
      });
    }
    case "file": {
      const text = await readFile(place.file, "utf8").catch((error: unknown) => {
        throw new EscapementError("E_FILE_UNREADABLE", { file: place.file, reason: messageOf(error) });
      });
      const value = text.replace(/\r?\n$/, "");
      if (value !== "") return value;
      throw new EscapementError("E_FILE_UNREADABLE", { file: place.file, reason: "it is empty" });
    }
  }
}

/** Longer texts are no reason, they are a page. */
const longestReason = 300;

/** A reason that can be kept: one line, cut, the given secrets and whatever looks like one taken out. */
export function reasonWithout(secrets: readonly string[], text: string): string {
  let clean = text;
  for (const secret of secrets) if (secret.length >= 4) clean = clean.replaceAll(secret, "***");
  clean = redact(clean).replace(/\s+/g, " ").trim();
  return clean.length > longestReason ? `${clean.slice(0, longestReason)}…` : clean;
}
