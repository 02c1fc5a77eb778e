/** `escapement checklist keygen`: a pair of keys for signing reports. */
import { open, unlink } from "node:fs/promises";
import type { Command } from "commander";
import { EscapementError, messageOf } from "../../base/errors.ts";
import { ExitCode } from "../../base/exit-code.ts";
import { generateKeys } from "../../checklist/signature.ts";
import { defineCommand } from "../command.ts";
import { printJson, say } from "../terminal.ts";

export function buildKeygen(): Command {
  return defineCommand("keygen", "make a pair of keys for signing reports", {
    examples: ["escapement checklist keygen -o checklist-key"],
    exitCodes: [ExitCode.ok, ExitCode.refused, ExitCode.unavailable],
    notes:
      "FILE is the private key, readable by you alone; FILE.pub the public one, which goes into the repository.",
  })
    .requiredOption("-o, --output <file>", "where the private key goes; it must not exist")
    .option("--json", "print one JSON document")
    .action(async ({ output, json }: { output: string; json?: boolean }) => {
      const { privatePem, publicPem } = generateKeys();
      await writeNew(output, privatePem, 0o600);
      await writeNew(`${output}.pub`, publicPem, 0o644).catch(async (error: unknown) => {
        // Half a pair is of no use, and would be in the way next time.
        await unlink(output);
        throw error;
      });
      if (json) return printJson({ privateKey: output, publicKey: `${output}.pub` });
      say(`wrote ${output} (keep it secret) and ${output}.pub`);
    });
}

/** A key that is overwritten is lost, with every report it has signed. */
async function writeNew(file: string, text: string, mode: number): Promise<void> {
  try {
    const handle = await open(file, "wx", mode);
    try {
      await handle.writeFile(text);
    } finally {
      await handle.close();
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST")
      throw new EscapementError("E_REFUSED", { what: `${file} exists`, hint: "name another file" });
    throw new EscapementError(
      "E_UNAVAILABLE",
      { what: `cannot write ${file}: ${messageOf(error)}`, hint: "check the folder and its permissions" },
      { cause: error },
    );
  }
}
