/** What the tests of channels send, and where their secrets are. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { AlertMessage } from "../../src/watchman/alert.ts";

export const secret = "the key of the signature";

export function message(more: Partial<AlertMessage> = {}): AlertMessage {
  return {
    ...{
      id: "late:1@x:open",
      phase: "open",
      key: "late:1",
      episode: 1,
      rule: "late-start",
      severity: "critical",
    },
    ...{
      job: "payroll/bonus",
      message: "Bonus für März is late.",
      evidence: { lateMs: 1 },
      hint: "look",
      watched: true,
    },
    openedAt: "2026-07-01T00:00:00.000Z",
    ...more,
  };
}

export function temporaryFolder(): string {
  const path = mkdtempSync(join(tmpdir(), "channels-"));
  onTestFinished(() => rmSync(path, { recursive: true }));
  return path;
}

/** A secret of a file. */
export function inFile(value: string): { from: "file"; file: string } {
  const file = join(temporaryFolder(), "secret");
  writeFileSync(file, `${value}\n`);
  return { from: "file", file };
}
