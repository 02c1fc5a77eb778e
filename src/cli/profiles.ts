/** `escapement profiles`: which host profiles there are, and whether they are right. */
import type { Command } from "commander";
import { EscapementError } from "../base/errors.ts";
import { ExitCode } from "../base/exit-code.ts";
import type { ProfileSet } from "../provision/profile/load-profiles.ts";
import { formatPosition } from "../spec/problem.ts";
import { defineCommand } from "./command.ts";
import { failOnProblems, printProblems } from "./problems.ts";
import { paint, print, printJson, table } from "./terminal.ts";

export function build(): Command {
  return defineCommand("profiles", "list and check what a host of each role shall have", {
    examples: ["escapement profiles list", "escapement profiles check site-profiles"],
    exitCodes: [ExitCode.ok, ExitCode.badData],
  })
    .addCommand(list())
    .addCommand(check());
}

async function load(paths: readonly string[]): Promise<ProfileSet> {
  const { loadProfiles } = await import("../provision/profile/load-profiles.ts");
  return loadProfiles(paths);
}

function list(): Command {
  return defineCommand("list", "list the profiles of the program and of the site", {
    examples: ["escapement profiles list", "escapement profiles list site-profiles --json"],
    exitCodes: [ExitCode.ok, ExitCode.badData],
  })
    .argument(
      "[path...]",
      "files and folders of the site; a profile of an equal name stands in place of ours",
    )
    .option("--json", "print one JSON document")
    .action(async (paths: string[], options: { json?: boolean }) => {
      const set = await load(paths);
      failOnProblems(set.problems);
      const profiles = [...set.profiles.values()]
        .sort((a, b) => (a.name < b.name ? -1 : 1))
        .map(({ name, at, sections, resources }) => ({
          name,
          place: formatPosition(at),
          sections: [...sections.keys()],
          resources: resources.length,
        }));
      if (options.json) {
        printJson({ profiles });
        return;
      }
      const { shippedProfiles } = await import("../provision/profile/shipped-profiles.ts");
      const ours = shippedProfiles();
      const rows = profiles.map(({ name, sections, place }) => [
        name,
        place.startsWith(ours) ? "the program" : place,
        sections.join(", "),
      ]);
      print(table(["profile", "from", "sections"], rows));
    });
}

function check(): Command {
  return defineCommand("check", "check profiles: every problem with file, line and column", {
    examples: ["escapement profiles check", "escapement profiles check site-profiles"],
    exitCodes: [ExitCode.ok, ExitCode.badData],
    notes: "Warnings are printed and do not fail the check.",
  })
    .argument("[path...]", "files and folders of the site, checked together with the program's own")
    .option("--json", "print one JSON document")
    .action(async (paths: string[], options: { json?: boolean }) => {
      const { problems, warnings, profiles } = await load(paths);
      if (options.json) {
        printJson({ problems, warnings });
        if (problems.length > 0) process.exitCode = ExitCode.badData;
        return;
      }
      printProblems(problems);
      for (const warning of warnings) {
        print(paint.yellow("warning"));
        printProblems([warning]);
      }
      if (problems.length > 0) {
        const files = [...new Set(problems.map(({ file }) => file))].join(", ");
        throw new EscapementError("E_SPEC_INVALID", { count: problems.length, files });
      }
      print(`${profiles.size} profiles are right`);
    });
}
