/** One trip to a host: a script that prints sections, and a last line that proves that nothing was cut off. */
import { EscapementError } from "../../base/errors.ts";
import type { ExecResult } from "../../remote/remote.ts";
import type { HostProbe } from "../context.ts";

export interface Section {
  readonly title: string;
  readonly text: string;
}

export interface Gathered {
  readonly argv: readonly string[];
  readonly said: ExecResult;
  readonly sections: readonly Section[];
}

const mark = "\u001e";

/** A script for `sh -c`; within it `section TITLE` begins a section. */
export function sectionScript(body: string): readonly string[] {
  return [
    "sh",
    "-c",
    `export LC_ALL=C\nsection() { printf '\\036%s\\n' "$*"; }\n${body.trim()}\nprintf '\\036end\\n'`,
  ];
}

/** @throws when the host cannot be reached, or its answer is not whole */
export async function gatherSections(
  host: HostProbe,
  argv: readonly string[],
  deadlineMs = 15_000,
): Promise<Gathered> {
  const said = await host.exec(argv, { deadlineMs });
  const parts = said.stdout.split(mark).slice(1);
  if (said.truncated || parts.pop()?.trim() !== "end") {
    throw new EscapementError("E_UNAVAILABLE", {
      what: `${host.name} gave half an answer (exit ${said.exitCode})`,
      hint: said.stderr.slice(0, 200),
    });
  }
  const sections = parts.map((part) => {
    const end = part.indexOf("\n");
    return { title: part.slice(0, end), text: part.slice(end + 1) };
  });
  return { argv, said, sections };
}
