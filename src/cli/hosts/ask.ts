/** Questions to the person at the terminal. Asked on standard error, so that standard output stays clean. */
import { createInterface } from "node:readline/promises";
import { Writable } from "node:stream";
import { EscapementError } from "../../base/errors.ts";

export function hasTerminal(): boolean {
  return process.stdin.isTTY === true && process.stderr.isTTY === true;
}

/** @returns the answer as typed, without spaces around it */
export async function askLine(question: string): Promise<string> {
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return (await lines.question(question)).trim();
  } finally {
    lines.close();
  }
}

/** Asks without showing what is typed. @throws E_USAGE without a terminal */
export async function askSecret(question: string): Promise<string> {
  if (!hasTerminal())
    throw new EscapementError("E_USAGE", {
      what: "there is no terminal to ask for the sudo password; set sudoPasswordFile in the inventory instead",
    });
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: process.stdin, output: nowhere, terminal: true });
  process.stderr.write(question);
  try {
    return await lines.question("");
  } finally {
    lines.close();
    process.stderr.write("\n");
  }
}
