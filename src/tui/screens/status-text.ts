/** Status words with their sign and tone. The sign says it without colour. */
import { type Span, span, type Tone } from "../text/line.ts";

const looks: Record<string, { readonly sign: string; readonly tone: Tone }> = {
  success: { sign: "✓", tone: "good" },
  pass: { sign: "✓", tone: "good" },
  running: { sign: "▸", tone: "busy" },
  pending: { sign: "○", tone: "plain" },
  planned: { sign: "·", tone: "muted" },
  interrupted: { sign: "◌", tone: "warn" },
  failed: { sign: "✗", tone: "bad" },
  fail: { sign: "✗", tone: "bad" },
  missed: { sign: "!", tone: "bad" },
  "no record": { sign: "!", tone: "bad" },
  blocked: { sign: "⊘", tone: "warn" },
  cancelled: { sign: "⊘", tone: "warn" },
  unknown: { sign: "?", tone: "warn" },
  refused: { sign: "⊘", tone: "warn" },
  "left-out": { sign: "⊘", tone: "muted" },
  // Somebody has said that it may be so for a time: neither passed nor open.
  waived: { sign: "=", tone: "warn" },
  "not-applicable": { sign: "-", tone: "muted" },
  late: { sign: "~", tone: "warn" },
  paused: { sign: "=", tone: "warn" },
};

export function signOf(status: string): string {
  return looks[status]?.sign ?? "?";
}

export function toneOf(status: string): Tone {
  return looks[status]?.tone ?? "plain";
}

/** `✗ failed`. */
export function statusSpan(status: string): Span {
  return span(`${signOf(status)} ${status}`, toneOf(status));
}
