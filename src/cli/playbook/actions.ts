/** `escapement playbook actions`: what a playbook may name. */
import type { Command } from "commander";
import { z } from "zod";
import { ExitCode } from "../../base/exit-code.ts";
import { defineCommand } from "../command.ts";
import { print, printJson, table } from "../terminal.ts";

export function buildActions(): Command {
  return defineCommand("actions", "list the actions and checks that a playbook may name", {
    examples: ["escapement playbook actions", "escapement playbook actions --json"],
    exitCodes: [ExitCode.ok],
  })
    .option("--json", "print one JSON document")
    .action(async (options: { json?: boolean }) => {
      const { registry } = await import("../../provision/playbook/actions/index.ts");
      const entries = [...registry.actions, ...registry.checks]
        .map(([name, { kind, summary, args }]) => ({ name, kind, summary, values: valuesOf(args) }))
        .sort((a, b) => (`${a.kind} ${a.name}` < `${b.kind} ${b.name}` ? -1 : 1));
      if (options.json) printJson({ entries });
      else
        print(
          table(
            ["kind", "name", "values", "what it does or asks"],
            entries.map((one) => [one.kind, one.name, one.values.join(", ") || "-", one.summary]),
          ),
        );
    });
}

function valuesOf(args: z.ZodType): string[] {
  const { properties = {} } = z.toJSONSchema(args) as { properties?: Record<string, unknown> };
  return Object.keys(properties);
}
