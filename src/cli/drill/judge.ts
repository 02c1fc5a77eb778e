/** `escapement drill judge FILE`: judges a history again that a run has left. */
import { readFile, stat } from "node:fs/promises";
import type { Command } from "commander";
import { EscapementError, messageOf } from "../../base/errors.ts";
import { ExitCode } from "../../base/exit-code.ts";
import { defineCommand } from "../command.ts";
import { paint, print, printJson, table } from "../terminal.ts";

const codes = { pass: ExitCode.ok, fail: ExitCode.failed, unknown: ExitCode.unknown } as const;

export function buildJudge(): Command {
  return defineCommand("judge", "judge the history of a run again, with the checker of this program", {
    examples: ["escapement drill judge history.json", "escapement drill judge history.json --json"],
    exitCodes: [ExitCode.ok, ExitCode.failed, ExitCode.unknown, ExitCode.badData],
    notes:
      "Looks at nothing but the file; /dev/stdin, or a pipe of the shell as in judge <(zcat history.json.gz), is one too.\nWhat a run measured besides (takeover, residue) stands in its report.\ndocs/exactly-once.md says what a history holds, and what each class of finding means.",
  })
    .argument("<file>", "history.json of a run")
    .option("--json", "print one JSON document")
    .action(async (file: string, options: { json?: boolean }) => {
      const { judgeDrill } = await import("../../chaos/judge-drill.ts");
      const { parseHistory } = await import("../../chaos/history.ts");
      const { repeatedKey } = await import("../../chaos/repeated-key.ts");
      const { text, value } = await readJson(file);
      const repeated = repeatedKey(text);
      if (repeated !== undefined)
        throw new EscapementError("E_BAD_DATA", {
          what: `${file}: the key ${JSON.stringify(repeated)} stands twice in one object`,
          hint: "a run writes each key once: the file was changed since",
        });
      const verdict = judgeDrill(parseHistory(value, file), value);
      process.exitCode = codes[verdict.outcome];
      if (options.json) return printJson({ file, ...verdict });
      const { outcome, findings, counts, figures, unknown } = verdict;
      const colour = { pass: paint.green, fail: paint.red, unknown: paint.yellow }[outcome];
      print(
        `${colour(outcome)}  ${figures.obligations} fires due, ${figures.obligationsInFault} of them during a fault; ` +
          `${figures.attempts} attempts, ${figures.attemptsHit} hit; ${figures.effects} effects, ${figures.staleRefused} stale ones refused`,
      );
      const found = Object.entries(counts).filter(([, count]) => count > 0);
      if (found.length > 0) print(found.map(([name, count]) => `${name} ${count}`).join(", "));
      for (const reason of unknown) print(`unknown: ${reason}`);
      if (findings.length > 0)
        print(
          table(
            ["class", "job", "fire time", "shard", "what"],
            findings.map((one) => [
              one.class,
              one.job,
              one.fireTime,
              one.shardNo === undefined ? "-" : String(one.shardNo),
              one.detail,
            ]),
          ),
        );
    });
}

/** What the shell hands over: a pipe with somebody at its other end, who may take time. */
const handedOver = /^\/(?:dev|proc\/self)\/(?:fd\/\d+|stdin)$/;

async function readJson(file: string): Promise<{ readonly text: string; readonly value: unknown }> {
  let text: string;
  try {
    // A named pipe would be waited for, maybe for ever.
    if (!handedOver.test(file) && !(await stat(file)).isFile()) throw new Error("it is not a regular file");
    text = await readFile(file, "utf8");
  } catch (error) {
    throw new EscapementError("E_FILE_UNREADABLE", { file, reason: messageOf(error) }, { cause: error });
  }
  try {
    return { text, value: JSON.parse(text) };
  } catch (error) {
    throw new EscapementError(
      "E_BAD_DATA",
      { what: `${file} is not JSON: ${messageOf(error)}`, hint: "it should be a history.json of a run" },
      { cause: error },
    );
  }
}
