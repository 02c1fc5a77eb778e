/** `escapement facts parse`: reads a saved output of one tool. */

import { readFile } from "node:fs/promises";
import { text as readStream } from "node:stream/consumers";
import { Argument, type Command } from "commander";
import { EscapementError, messageOf } from "../../base/errors.ts";
import { ExitCode } from "../../base/exit-code.ts";
import { type OutputKind, outputKinds, readOutput } from "../../hardware/kinds.ts";
import { defineCommand } from "../command.ts";
import { print, printJson } from "../terminal.ts";
import { plain, printFindings } from "./print-findings.ts";

export function buildParse(): Command {
  return defineCommand("parse", "read a saved output of a tool, and judge what it tells", {
    examples: [
      "escapement facts parse smartctl sda.json --json",
      "chronyc -n -c tracking | escapement facts parse chronyc-tracking - --whole",
    ],
    exitCodes: [ExitCode.ok, ExitCode.failed, ExitCode.unknown, ExitCode.badData],
    notes:
      "JSON, and tables with an end mark, prove that they are whole. Of other text lines may have been cut off, so\n" +
      "nothing is concluded from what is not in it, unless --whole says that it is all there. Exit 1 for a critical\n" +
      "finding, 5 where nothing could be read.",
  })
    .addArgument(new Argument("<kind>", "which tool printed it").choices(Object.keys(outputKinds)))
    .argument("<file>", "the saved output; - for standard input")
    .option("--whole", "the output is complete to its last line")
    .option("--json", "print one JSON document")
    .action(async (kind: OutputKind, file: string, _: unknown, command: Command) => {
      // `facts` has a --json of its own, which takes the option wherever it stands.
      const options: { whole?: boolean; json?: boolean } = command.optsWithGlobals();
      const text = await read(file);
      const { facts, examination } = readOutput(kind, { text, isWhole: options.whole === true });
      if (examination.findings.some((one) => one.severity === "critical")) process.exitCode = ExitCode.failed;
      else if (!tellsAnything(facts)) process.exitCode = ExitCode.unknown;
      if (options.json) return printJson({ kind, facts, ...examination });
      printTree(facts, "");
      printFindings(examination);
    });
}

async function read(file: string): Promise<string> {
  try {
    return file === "-" ? await readStream(process.stdin) : await readFile(file, "utf8");
  } catch (error) {
    throw new EscapementError("E_FILE_UNREADABLE", { file, reason: messageOf(error) });
  }
}

/** Whether there is one known fact, or one row that was seen, anywhere. */
function tellsAnything(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  if ("known" in value || "seen" in value) return true;
  return Object.values(value).some(tellsAnything);
}

/** One line a fact: its path, then the value, or a question mark and the reason. */
function printTree(value: unknown, path: string): void {
  const name = path || "facts";
  if (typeof value !== "object" || value === null) print(plain(`${name}: ${JSON.stringify(value)}`));
  else if ("unknown" in value) {
    print(plain(`${name}: ? ${String(value.unknown)}`));
    if ("seen" in value) printTree(value.seen, path);
  } else if ("known" in value) printTree(value.known, path);
  else if (Array.isArray(value) && value.every((one) => typeof one !== "object"))
    print(plain(`${name}: ${value.length === 0 ? "none" : value.join(" ")}`));
  else for (const [key, one] of Object.entries(value)) printTree(one, path === "" ? key : `${path}.${key}`);
}
