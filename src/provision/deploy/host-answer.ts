/** Reads what the scripts of host-scripts.ts say. */
import { EscapementError } from "../../base/errors.ts";
import type { ExecResult } from "../../remote/remote.ts";

/** Values by name, in the order said. */
export interface HostAnswer {
  all(name: string): readonly string[];
  last(name: string): string | undefined;
}

const longestReason = 300;

/**
 * Takes the lines of ours out of a command's output.
 * @throws E_REFUSED with the host's own reason; E_UNKNOWN where the answer has no end
 */
export function readHostAnswer(host: string, result: ExecResult): HostAnswer {
  const lines = result.stdout
    .split("\n")
    .filter((line) => line.startsWith("escapement:"))
    .map((line) => line.slice("escapement:".length))
    .filter((line) => line.includes("="))
    .map((line) => [line.slice(0, line.indexOf("=")), line.slice(line.indexOf("=") + 1).trim()] as const);
  const all = (name: string) => lines.filter(([key]) => key === name).map(([, value]) => value);
  const error = all("error").at(-1);
  if (error !== undefined)
    throw new EscapementError(
      "E_REFUSED",
      { what: `${host}: ${error}`, hint: "what ran before runs on; run the command again when it is mended" },
      { at: host },
    );
  if (result.exitCode !== 0 || all("end").at(-1) !== "ok")
    throw new EscapementError(
      "E_UNKNOWN",
      {
        what: `${host} broke off: ${reasonOf(result)}`,
        hint: "run the command again; what is there already is not uploaded twice",
      },
      { at: host },
    );
  return { all, last: (name) => all(name).at(-1) };
}

function reasonOf(result: ExecResult): string {
  const text = result.stderr.trim().split("\n").at(-1)?.slice(0, longestReason);
  return (
    text ||
    (result.exitCode === null ? `killed by ${result.signal ?? "a signal"}` : `exit code ${result.exitCode}`)
  );
}
