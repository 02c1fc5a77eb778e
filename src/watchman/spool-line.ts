/** One line of the spool, checked: the file may be old, cut or touched by somebody. */
import { z } from "zod";
import type { BookAlert } from "./alert.ts";

const instant = z.string().transform((text, context) => {
  const date = new Date(text);
  if (!Number.isNaN(date.getTime())) return date;
  context.addIssue("not an instant");
  return z.NEVER;
});
const severity = z.enum(["info", "warning", "critical"]);

const alert = z.object({
  rule: z.string(),
  key: z.string(),
  severity,
  jobId: z.int().optional(),
  job: z.string().optional(),
  fireTime: instant.optional(),
  message: z.string(),
  evidence: z.record(z.string(), z.unknown()),
  cause: z.string().optional(),
  hint: z.string(),
  watched: z.boolean(),
  episode: z.int(),
  firstSeen: instant,
  lastSeen: instant,
  opened: instant.nullable(),
  resolved: instant.nullable(),
  acknowledged: instant.nullable(),
  escalated: instant.nullable(),
  told: instant.nullable(),
  toldSeverity: severity.nullable(),
  quiet: z.string().nullable(),
  channels: z.array(z.string()),
});

/** What a receiver gets; see AlertMessage. */
const message = z.looseObject({
  id: z.string(),
  phase: z.enum(["open", "raised", "escalated", "resolved", "test"]),
  key: z.string(),
  episode: z.int(),
  rule: z.string(),
  severity,
  message: z.string(),
  evidence: z.record(z.string(), z.unknown()),
  hint: z.string(),
  openedAt: z.string(),
  watched: z.boolean(),
});

const line = z.union([
  z.object({ alert }),
  z.object({
    queued: z.object({
      messageId: z.string(),
      channel: z.string(),
      alertKey: z.string(),
      fallback: z.array(z.string()),
      message,
      createdAt: instant,
    }),
  }),
  z.object({ accepted: z.object({ messageId: z.string(), channel: z.string(), at: instant }) }),
]);

interface Queued {
  readonly messageId: string;
  readonly channel: string;
  readonly alertKey: string;
  readonly fallback: readonly string[];
  readonly message: unknown;
  readonly createdAt: Date;
}

export type SpoolLine =
  | { readonly alert: BookAlert }
  | { readonly queued: Queued }
  | { readonly accepted: { readonly messageId: string; readonly channel: string; readonly at: Date } };

/** Undefined for what is no line of a spool. */
export function spoolLine(text: string): SpoolLine | undefined {
  if (text === "") return undefined;
  try {
    const parsed = line.safeParse(JSON.parse(text));
    return parsed.success ? (parsed.data as SpoolLine) : undefined;
  } catch {
    return undefined;
  }
}
