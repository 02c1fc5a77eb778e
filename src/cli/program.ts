/**
 * The table of commands. A command's module is loaded only when it is asked
 * for, so that `--help` and short commands start fast.
 */
import { Command, Option } from "commander";
import { EscapementError } from "../base/errors.ts";
import type { CommandEntry } from "./command.ts";
import { commandTable } from "./command-table.ts";

/** Runs the command named by `argv` (without node and script). @throws CommanderError, EscapementError */
export async function runProgram(argv: readonly string[]): Promise<void> {
  const program = new Command("escapement")
    .description("Batch jobs on physical hosts that fire exactly once.")
    .version(process.env.ESCAPEMENT_VERSION ?? "0.0.0")
    .exitOverride()
    // Lets a command and its subcommands have options of one name: each takes what stands behind its own.
    .enablePositionalOptions()
    .showHelpAfterError("(run with --help to see the options)");
  const wanted = argv.find((word) => !word.startsWith("-"));
  const helpFor = wanted === "help" ? argv[argv.indexOf("help") + 1] : undefined;
  for (const entry of commandTable) {
    const isWanted = entry.name === wanted || entry.name === helpFor;
    program.addCommand(isWanted ? await loadCommand(entry) : placeholder(entry), {
      hidden: entry.hidden ?? false,
    });
  }
  if (argv.length === 0) {
    program.outputHelp();
    return;
  }
  await program.parseAsync([...argv], { from: "user" });
}

async function loadCommand(entry: CommandEntry): Promise<Command> {
  const command = (await entry.load()).build();
  if (command.name() !== entry.name)
    throw new EscapementError("E_BUG", { what: `command ${entry.name} calls itself ${command.name()}` });
  prepare(command);
  return command;
}

/** Stands for a command in the overview; never run. */
function placeholder(entry: CommandEntry): Command {
  return new Command(entry.name)
    .summary(entry.summary)
    .description(entry.summary)
    .allowUnknownOption()
    .exitOverride();
}

/** What every command understands; `terminal.ts` and `error-report.ts` look for them. */
const shared = [
  ["--quiet", "say nothing about the work"],
  ["--no-color", "no colours"],
  ["--debug", "show where an error came from"],
] as const;

/** Errors of sub-commands must reach `main` as exceptions, too; and some options are everybody's. */
function prepare(command: Command): void {
  command.exitOverride().showHelpAfterError("(run with --help to see the options)");
  for (const child of command.commands) prepare(child);
  if (command.commands.length > 0) return;
  for (const [flag, meaning] of shared) {
    if (!command.options.some((option) => option.long === flag)) command.addOption(new Option(flag, meaning));
  }
}
