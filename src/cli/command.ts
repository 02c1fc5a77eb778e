/** What a command module provides, and the pieces that every command shares. */
import { Command } from "commander";
import { type ExitCode, exitCodeMeaning } from "../base/exit-code.ts";

export interface CommandModule {
  /** Builds the commander command; must not do any work besides. */
  build(): Command;
}

export interface CommandEntry {
  readonly name: string;
  readonly summary: string;
  readonly hidden?: boolean;
  load(): Promise<CommandModule>;
}

export interface CommandHelp {
  /** Whole command lines that work as written. */
  readonly examples: readonly string[];
  /** The codes this command can end with, besides 64 and 70, which all have. */
  readonly exitCodes: readonly ExitCode[];
  /** A closing paragraph, where the options alone do not explain it. */
  readonly notes?: string;
}

/** A commander command whose help ends with examples and exit codes. */
export function defineCommand(name: string, summary: string, help?: CommandHelp): Command {
  const command = new Command(name).summary(summary).description(summary);
  if (help) {
    command.addHelpText("after", () => {
      const codes = [...new Set<ExitCode>([...help.exitCodes, 64, 70])].sort((a, b) => a - b);
      const parts = [
        `\nExamples:\n${help.examples.map((line) => `  $ ${line}`).join("\n")}`,
        `\nExit codes:\n${codes.map((code) => `  ${String(code).padStart(3)}  ${exitCodeMeaning[code]}`).join("\n")}`,
      ];
      if (help.notes) parts.push(`\n${help.notes}`);
      return parts.join("\n");
    });
  }
  return command;
}
