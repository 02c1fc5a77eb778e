/** Who does something by hand, and why: both are written into the records. */
import type { Command } from "commander";
import { EscapementError } from "../base/errors.ts";
import { userName } from "../base/user-name.ts";
import type { Deed } from "../store/operation.ts";

export interface DeedOptions {
  readonly by?: string;
  readonly reason: string;
}

/** Adds `--reason` (required) and `--by` (default: the user of this login). */
export function withDeedOptions(command: Command): Command {
  return command
    .requiredOption("--reason <text>", "why; kept with the records")
    .option("--by <person>", "who; default: your login, or SUDO_USER");
}

/** @throws E_USAGE for a reason without a word in it */
export function deedOf(options: DeedOptions): Deed {
  if (options.reason.trim() === "") throw new EscapementError("E_USAGE", { what: "--reason is empty" });
  return { person: personOf(options), reason: options.reason };
}

/** Who is named, or who is logged in. @throws E_USAGE for a name without a word in it */
export function personOf({ by }: Pick<DeedOptions, "by">): string {
  if (by?.trim() === "") throw new EscapementError("E_USAGE", { what: "--by names nobody" });
  return by ?? process.env.SUDO_USER ?? userName();
}
