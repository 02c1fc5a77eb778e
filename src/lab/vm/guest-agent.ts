/**
 * Runs commands inside a virtual machine past its network, through the agent
 * that listens on a serial line. The line takes one conversation at a time, so
 * each question is a short one of its own.
 */
import { EscapementError } from "../../base/errors.ts";
import { monotonicMs, sleep } from "../../base/monotonic.ts";
import type { ProgramOptions, ProgramResult } from "../hosts/run-program.ts";
import { type JsonLine, JsonSocket } from "./json-socket.ts";

/** An emulated machine that is starting something may take this long to answer. */
const answerLimitMs = 30_000;

let conversations = 0;

/** Whether the agent answers within `deadlineMs`. */
export async function agentAnswers(socket: string, deadlineMs: number): Promise<boolean> {
  try {
    await ask(socket, "guest-ping", undefined, deadlineMs);
    return true;
  } catch {
    return false;
  }
}

/** Runs a program as root in the machine. A code other than 0 is a result. @throws E_LAB_STEP when the agent is silent */
export async function runInGuest(
  socket: string,
  argv: readonly string[],
  options: ProgramOptions = {},
): Promise<ProgramResult> {
  const [path = "", ...arg] = argv;
  const started = await ask(socket, "guest-exec", {
    path: "/usr/bin/env",
    arg: ["PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/root", path, ...arg],
    "capture-output": true,
    ...(options.input === undefined ? {} : { "input-data": Buffer.from(options.input).toString("base64") }),
  });
  const pid = (started.return as { pid: number }).pid;
  const deadline = monotonicMs() + (options.deadlineMs ?? 60_000);
  for (let waitMs = 10; ; waitMs = Math.min(waitMs * 2, 250)) {
    const { return: status } = (await ask(socket, "guest-exec-status", { pid })) as { return: ExecStatus };
    if (status.exited)
      return {
        code: status.exitcode ?? null,
        stdout: text(status["out-data"]),
        stderr: text(status["err-data"]),
      };
    if (monotonicMs() > deadline) {
      await ask(socket, "guest-exec", { path: "/bin/kill", arg: ["-KILL", String(pid)] });
      return { code: null, stdout: "", stderr: "" };
    }
    await sleep(waitMs);
  }
}

/** How far the machine's clock is ahead of this one, in milliseconds, right to within half a trip. @throws E_LAB_STEP */
export async function guestClockOffsetMs(socket: string): Promise<number> {
  const beforeMs = Date.now();
  const { return: nanoseconds } = await ask(socket, "guest-get-time");
  return Number(nanoseconds) / 1e6 - (beforeMs + Date.now()) / 2;
}

interface ExecStatus {
  readonly exited: boolean;
  readonly exitcode?: number;
  readonly "out-data"?: string;
  readonly "err-data"?: string;
}

function text(data: string | undefined): string {
  return data === undefined ? "" : Buffer.from(data, "base64").toString("utf8");
}

/** Answers of a conversation before us may still be in the line: the agent says where ours begins. */
async function ask(
  path: string,
  execute: string,
  question?: Record<string, unknown>,
  limitMs = answerLimitMs,
): Promise<JsonLine> {
  const socket = await JsonSocket.open(path);
  try {
    conversations += 1;
    const id = process.pid * 1_000_000 + conversations;
    socket.send({ execute: "guest-sync", arguments: { id } });
    await socket.receive((line) => line.return === id, limitMs);
    socket.send(question === undefined ? { execute } : { execute, arguments: question });
    const answer = await socket.receive(() => true, limitMs);
    if (answer.error === undefined) return answer;
    const { desc } = answer.error as { desc?: string };
    throw new EscapementError("E_LAB_STEP", { step: execute, reason: desc ?? "the agent refuses" });
  } finally {
    socket.close();
  }
}
