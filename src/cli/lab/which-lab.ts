/** The option that all subcommands share, and how they find their lab. */
import type { Command } from "commander";
import type { Lab } from "../../lab/lab.ts";

export interface LabChoice {
  readonly name: string;
}

export function withLabName(command: Command): Command {
  return command.option("--name <lab>", "which lab", "lab");
}

/** @throws E_LAB_MISSING */
export async function openLab(choice: LabChoice): Promise<Lab> {
  const { findLab } = await import("../../lab/lab.ts");
  return findLab(choice.name);
}
