/** What a host cannot have by its kind, such as kernel settings in a container: many lines told as one. */
import { paint } from "../terminal.ts";

/** Reasons that no mending on the host helps; they come from profiles, and through what waits for such a resource. */
const marker = /(?:^|: | {2})needs-(vm|metal): /;

/**
 * One line for each unknown, and one for all that the kind of host makes impossible.
 * @param unknowns each with its id and its reason, as people read them
 * @param all lists those too
 */
export function unknownLines(unknowns: readonly string[], all: boolean): string[] {
  const mark = paint.yellow("?");
  const lines: string[] = [];
  const impossible = new Map<string, number>();
  for (const unknown of unknowns) {
    const kind = all ? undefined : marker.exec(unknown)?.[1];
    if (kind === undefined) lines.push(`  ${mark} ${unknown}`);
    else impossible.set(kind, (impossible.get(kind) ?? 0) + 1);
  }
  for (const [kind, count] of impossible)
    lines.push(
      `  ${mark} ${count} cannot be judged ${kind === "vm" ? "in a container" : "without real hardware"} (needs-${kind}); --all lists ${count === 1 ? "it" : "them"}`,
    );
  return lines;
}
