/** A program: the message is JSON on its standard input, exit 0 means accepted. It may not outlive its time. */
import { spawn } from "node:child_process";
import type { WatchChannel } from "../../spec/watch-definition.ts";
import { reasonWithout } from "../secret.ts";
import type { Acceptance, Channel } from "./channel.ts";

type Settings = Extract<WatchChannel, { type: "exec" }>;

/** Kept of what it says. */
const longestOutput = 2_000;
/** The program gets these of our environment: it has no business with the store's URL. */
const passedOn = ["PATH", "HOME", "LANG", "TZ", "TMPDIR"];

export function execChannel(settings: Settings): Channel {
  const { name, type, timeoutMs } = settings;
  const run = (document: Record<string, unknown>) =>
    runProgram(settings, `${JSON.stringify({ schemaVersion: 1, ...document })}\n`);
  return {
    name,
    type,
    timeoutMs,
    keepsState: false,
    send: ([message]) => run({ id: message!.id, kind: "alert", alert: message }),
    sendDigest: ({ id, messages }) => run({ id, kind: "digest", count: messages.length, alerts: messages }),
  };
}

function runProgram({ command, folder, timeoutMs }: Settings, input: string): Promise<Acceptance> {
  const [program, ...args] = command;
  return new Promise((resolve) => {
    let output = "";
    let timedOut = false;
    const refused = (reason: string) =>
      resolve({ accepted: false, rejected: false, reason: reasonWithout([], reason) });
    // A group of its own: what it has started ends with it.
    const child = spawn(program!, args, {
      cwd: folder,
      detached: true,
      stdio: ["pipe", "pipe", "pipe"],
      env: Object.fromEntries(passedOn.map((key) => [key, process.env[key]])),
    });
    const kill = () => {
      try {
        process.kill(-child.pid!, "SIGKILL");
      } catch {
        // It has ended by itself.
      }
    };
    const timer = setTimeout(() => {
      timedOut = true;
      kill();
      // Someone outside of the group may hold its pipes: do not wait for them.
      child.stdout.destroy();
      child.stderr.destroy();
    }, timeoutMs);
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding("utf8").on("data", (text: string) => {
        if (output.length < longestOutput) output += text;
      });
    child.stdin.on("error", () => {});
    child.stdin.end(input);
    child.on("error", (error) => {
      clearTimeout(timer);
      refused(error.message);
    });
    child.on("exit", (code, signal) => {
      clearTimeout(timer);
      if (timedOut) return refused(`killed after ${timeoutMs} ms`);
      if (code === 0) return resolve({ accepted: true });
      refused(`${signal === null ? `exit ${code}` : signal}: ${output}`);
    });
  });
}
