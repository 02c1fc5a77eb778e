/** Every command explains itself: examples that begin with its name, and its exit codes. */
import type { Command } from "commander";
import { describe, expect, test } from "vitest";
import { commandTable } from "../../src/cli/command-table.ts";

/** A command and all below it, with the words that lead there. */
function withSubcommands(command: Command, words: string): [string, Command][] {
  return [
    [words, command],
    ...command.commands.flatMap((sub) => withSubcommands(sub, `${words} ${sub.name()}`)),
  ];
}

function helpOf(command: Command): string {
  let text = "";
  command.configureOutput({ writeOut: (part) => (text += part), getOutHelpWidth: () => 100 });
  command.outputHelp();
  return text;
}

describe.each(commandTable)("$name", ({ name, summary, load }) => {
  test("its module builds the command that the table names", async () => {
    const command = (await load()).build();
    expect(command.name()).toBe(name);
    expect(command.summary()).toBe(summary);
  });

  test("every help text that leads nowhere else has examples and exit codes", async () => {
    const leaves = withSubcommands((await load()).build(), name).filter(
      ([, command]) => command.commands.length === 0,
    );
    for (const [words, command] of leaves) {
      const help = helpOf(command);
      expect(help, words).toMatch(/^Exit codes:\n(\s+\d+ {2}\S.*\n)+/m);
      const examples = /^Examples:\n((?: {2}\$ .*\n)+)/m.exec(help)?.[1] ?? "";
      expect(examples, `the examples of ${words}`).toContain(`escapement ${words}`);
    }
  });
});

test("the table has no command twice", () => {
  const names = commandTable.map((entry) => entry.name);
  expect(new Set(names).size).toBe(names.length);
});
