/** Every command of the product, one line each, in the order of the overview. */
import type { CommandEntry } from "./command.ts";

export const commandTable: readonly CommandEntry[] = [];
