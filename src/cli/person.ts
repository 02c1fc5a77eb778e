/** Who does something by hand, and why: both are written into the records. */
import { userInfo } from "node:os";
import type { Command } from "commander";
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

export function deedOf(options: DeedOptions): Deed {
  return { person: options.by ?? process.env.SUDO_USER ?? userInfo().username, reason: options.reason };
}
