/** Which job an alert is about, where its message does not say so itself. */
import type { AlertLook } from "../../store/ui/records-look.ts";

/** @returns the job as the screens call it, or null */
export function unnamedJobOf({ job, message }: Pick<AlertLook, "job" | "message">): string | null {
  const label = job?.replace(/^default\//, "");
  return label === undefined || message.includes(label) ? null : label;
}
