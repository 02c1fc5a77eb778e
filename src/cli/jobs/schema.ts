/** `escapement jobs schema`: JSON Schema of the definition files, for editors. */
import { Argument, type Command } from "commander";
import { EscapementError, messageOf } from "../../base/errors.ts";
import { ExitCode } from "../../base/exit-code.ts";
import { makeFolder } from "../../base/make-folder.ts";
import { defineCommand } from "../command.ts";
import { print, say } from "../terminal.ts";

export function buildSchema(): Command {
  return defineCommand("schema", "print the JSON Schema of definition files, for editors", {
    examples: ["escapement jobs schema Job", "escapement jobs schema -o docs/schema"],
    exitCodes: [ExitCode.ok, ExitCode.unavailable],
    notes:
      "A file names its schema in its first line:\n  # yaml-language-server: $schema=docs/schema/job.json",
  })
    .addArgument(new Argument("[kind]", "one kind, as written in the files; without it, every kind"))
    .option("-o, --output <directory>", "write one file a kind instead of printing")
    .action(async (wanted: string | undefined, options: { output?: string }) => {
      const { isKind, kindNames } = await import("../../spec/kinds.ts");
      const { jsonSchemaFile, jsonSchemaOf, jsonSchemaText } = await import("../../spec/json-schema.ts");
      if (wanted !== undefined && !isKind(wanted))
        throw new EscapementError("E_BAD_VALUE", {
          option: "kind",
          value: JSON.stringify(wanted),
          expected: "a kind of document",
          hint: `one of ${kindNames.join(", ")}`,
        });
      const chosen = wanted === undefined ? kindNames : [wanted];
      if (options.output === undefined) {
        const schemas = chosen.map((kind) => [kind, jsonSchemaOf(kind)] as const);
        print(JSON.stringify(wanted === undefined ? Object.fromEntries(schemas) : schemas[0]![1], null, 2));
        return;
      }
      const { writeFile } = await import("node:fs/promises");
      const { join } = await import("node:path");
      try {
        makeFolder(options.output);
        for (const kind of chosen)
          await writeFile(join(options.output, jsonSchemaFile(kind)), jsonSchemaText(kind));
      } catch (error) {
        throw new EscapementError("E_UNAVAILABLE", {
          what: `cannot write to ${options.output}: ${messageOf(error)}`,
          hint: "name a folder that can be written",
        });
      }
      say(`wrote ${chosen.map(jsonSchemaFile).join(", ")} to ${options.output}`);
    });
}
