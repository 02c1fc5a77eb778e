/** `escapement alerts test`: a test alert through every channel of a watch file, now. */
import type { Command } from "commander";
import { EscapementError } from "../../base/errors.ts";
import { ExitCode } from "../../base/exit-code.ts";
import { defineCommand } from "../command.ts";
import { failOnProblems } from "../problems.ts";
import { paint, print, printJson, say, table } from "../terminal.ts";

interface TestOptions {
  readonly watch: string;
  readonly channel?: string[];
  readonly json?: boolean;
}

export function buildTest(): Command {
  return defineCommand("test", "check a watch file, and send a test alert through its channels", {
    examples: [
      "escapement alerts test --watch watch.yaml",
      "escapement alerts test --watch watch.yaml --channel pager --json",
    ],
    exitCodes: [ExitCode.ok, ExitCode.failed, ExitCode.partial, ExitCode.badData],
    notes:
      "Needs no store, and records nothing: for item 8 of the checklist only the watchman's own tests count (spec.testAlert).\nExit 0 when every channel has accepted, 3 when some have, 1 when none has, 65 when the file is wrong.",
  })
    .requiredOption("--watch <file>", "watch file that names the channels")
    .option("--channel <name...>", "only these")
    .option("--json", "print one JSON document")
    .action(async (options: TestOptions) => {
      const { readWatchFile } = await import("../../watchman/watch-file.ts");
      const { openChannel } = await import("../../watchman/channels/open-channels.ts");
      const { testByHand } = await import("../../watchman/test-alert.ts");
      const { watch, problems } = await readWatchFile(options.watch);
      failOnProblems(problems);
      if (!watch) throw new EscapementError("E_BUG", { what: `no watch and no problem in ${options.watch}` });
      const names = watch.channels.map(({ name }) => name);
      for (const wanted of options.channel ?? [])
        if (!names.includes(wanted))
          throw new EscapementError("E_BAD_VALUE", {
            option: "--channel",
            value: wanted,
            expected: "a channel of the watch file",
            hint: `the file has: ${names.join(", ")}`,
          });
      const chosen = watch.channels.filter(({ name }) => options.channel?.includes(name) ?? true);
      const message = testByHand(new Date());
      const results = await Promise.all(
        chosen.map(async (settings) => {
          const answer = await openChannel(settings).send([message]);
          const reason = answer.accepted ? null : answer.reason;
          return { channel: settings.name, type: settings.type, accepted: answer.accepted, reason };
        }),
      );
      const accepted = results.filter((one) => one.accepted).length;
      if (accepted < results.length) process.exitCode = accepted === 0 ? ExitCode.failed : ExitCode.partial;
      say(
        `not recorded: item 8 of the checklist counts the watchman's own tests, ${watch.testAlert ? "which spec.testAlert asks for" : "and this watch file has no spec.testAlert"}`,
      );
      if (options.json) return printJson({ channels: results });
      const lines = results.map(({ channel, type, accepted: yes, reason }) => [
        channel,
        type,
        yes ? paint.green("accepted") : paint.red("not accepted"),
        reason ?? "",
      ]);
      print(table(["channel", "type", "answer", "reason"], lines));
    });
}
