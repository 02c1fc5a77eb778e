/** Starts `escapement once` as cron would: a process of its own, of which only exit code and output are seen. */
import { type ChildProcess, spawn } from "node:child_process";

export interface OnceProcess {
  readonly child: ChildProcess;
  /** What it has written so far. */
  readonly output: { stdout: string; stderr: string };
  /** Its exit code, or the name of the signal that ended it. */
  readonly exit: Promise<number | string>;
}

export interface OnceSettings {
  readonly url: string;
  readonly job: string;
  /** `--period` or `--fire-time` and its value. */
  readonly slot?: readonly string[];
  readonly lease?: string;
  readonly blocking?: string;
  readonly more?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

export function startOnce(settings: OnceSettings, command: readonly string[]): OnceProcess {
  const args = [
    ...["bin/escapement.mjs", "once", "--job", settings.job, ...(settings.slot ?? ["--period", "2026-07"])],
    ...[
      "--lease",
      settings.lease ?? "20s",
      "--blocking",
      settings.blocking ?? "skip",
      ...(settings.more ?? []),
      "--",
      ...command,
    ],
  ];
  const child = spawn(process.execPath, args, {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, ESCAPEMENT_GUARD_URL: settings.url, ...settings.env },
  });
  const output = { stdout: "", stderr: "" };
  child.stdout?.on("data", (part) => (output.stdout += String(part)));
  child.stderr?.on("data", (part) => (output.stderr += String(part)));
  const exit = new Promise<number | string>((resolve) =>
    child.on("close", (code, signal) => resolve(code ?? signal ?? "?")),
  );
  return { child, output, exit };
}
