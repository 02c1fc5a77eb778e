/**
 * One command on one host, over whatever carries its three streams.
 *
 *   opened ──(sudo asks)──> asked ──(asks again)──> refused: E_HOST_SUDO
 *      │                      │
 *      └──────(start mark)────┴──> started ──(exit)──> result
 *
 *   in any state: deadline → killed: E_HOST_TIMEOUT; carrier gone: E_HOST_LOST;
 *   exit before the start mark: E_HOST_SUDO as root, else E_HOST_AUTH.
 *
 * Input is written, and a dialogue begun, only once the command has started: a
 * password never becomes a command's input, nor a command's input an answer to sudo.
 */
import { randomBytes } from "node:crypto";
import type { Readable, Writable } from "node:stream";
import { formatDuration } from "../base/duration.ts";
import { EscapementError } from "../base/errors.ts";
import { monotonicMs } from "../base/monotonic.ts";
import { MarkedStream } from "./marked-stream.ts";
import type { ExecRequest, ExecResult } from "./remote.ts";
import { forcedWords, hostScript, type Marks } from "./shell-line.ts";
import { Talk } from "./talk.ts";

/** The three streams of a command that has just been started, and its end. */
export interface CommandCarrier {
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Ends the command with everything it started, as far as this side can. */
  kill(): void;
  /** Resolves once, when it has ended and both streams are read to the end; rejects when the carrier is gone. */
  readonly ended: Promise<{ readonly exitCode: number | null; readonly signal?: string }>;
}

/** A request whose input may also be a stream, made only when the command is ready for it. */
export interface CommandRequest extends Omit<ExecRequest, "stdin"> {
  readonly stdin?: string | Uint8Array | (() => Readable);
}

export interface CommandContext {
  readonly host: string;
  readonly user: string;
  /** The answer to sudo; undefined: sudo must not ask. */
  readonly sudoPassword?: string;
  /** Starts the script with sh on the host; a forced command is handed the words as they are. */
  start(script: string, forced: boolean): Promise<CommandCarrier>;
}

const defaultMaxOutputBytes = 16 * 1024 * 1024;

/** @throws E_HOST_TIMEOUT, E_HOST_SUDO, E_HOST_AUTH, E_HOST_LOST */
export async function runCommand(request: CommandRequest, context: CommandContext): Promise<ExecResult> {
  const startedMs = monotonicMs();
  const nonce = randomBytes(9).toString("hex");
  // The ~ is one of the characters that the line does not carry as they are: a shell that
  // prints the line (set -x in .bashrc) prints no mark.
  const forced = request.forced ?? false;
  // A forced command is no shell of ours: it writes no mark.
  const marks: Marks = {
    start: forced ? "" : `escapement-start-${nonce}~`,
    prompt: `escapement-sudo-${nonce}~`,
  };
  const script = forced
    ? forcedWords(request.argv)
    : hostScript({
        argv: request.argv,
        marks,
        asRoot: request.asRoot ?? false,
        sudoMayAsk: context.sudoPassword !== undefined,
        deadlineMs: request.deadlineMs,
      });
  return withDeadline(request, context.host, async (onKill) => {
    const carrier = await context.start(script, forced);
    const run = new Run(request, context, carrier, marks);
    onKill(() => run.kill());
    const { exitCode, signal } = await run.end();
    const { stdout, stderr } = run;
    if (!stdout.started || !stderr.started) throw notStarted(request, context, stdout, stderr);
    return {
      exitCode,
      ...(signal !== undefined && { signal }),
      stdout: stdout.text,
      stderr: stderr.text,
      truncated: stdout.truncated || stderr.truncated,
      durationMs: monotonicMs() - startedMs,
    };
  });
}

class Run {
  readonly stdout: MarkedStream;
  readonly stderr: MarkedStream;
  readonly #request: CommandRequest;
  readonly #context: CommandContext;
  readonly #carrier: CommandCarrier;
  readonly #marks: Marks;
  readonly #failed = deferred();
  readonly #talk: Talk | undefined;
  #answered = false;
  #fed = false;

  constructor(request: CommandRequest, context: CommandContext, carrier: CommandCarrier, marks: Marks) {
    const limit = request.maxOutputBytes ?? defaultMaxOutputBytes;
    this.#request = request;
    this.#context = context;
    this.#carrier = carrier;
    this.#marks = marks;
    this.stdout = new MarkedStream(marks.start, limit);
    this.stderr = new MarkedStream(marks.start, limit);
    this.#talk = request.dialogue && new Talk(request.dialogue, carrier.stdin, (error) => this.#fail(error));
  }

  kill(): void {
    this.#talk?.end();
    this.#carrier.kill();
  }

  async end(): Promise<{ exitCode: number | null; signal?: string }> {
    const { stdin, stdout, stderr, ended } = this.#carrier;
    // A command may end without reading its input; that is its own affair.
    stdin.on("error", () => {});
    stdout.on("data", (chunk: Buffer) => {
      const said = this.stdout.push(chunk);
      this.#talk?.hear(said);
      this.#feed();
    });
    stderr.on("data", (chunk: Buffer) => {
      this.stderr.push(chunk);
      this.#answer();
      this.#feed();
    });
    for (const stream of [stdout, stderr]) stream.on("error", () => {});
    this.#failed.promise.catch(() => {});
    this.#feed();
    return Promise.race([ended, this.#failed.promise]);
  }

  #fail(error: unknown): void {
    this.kill();
    this.#failed.reject(error);
  }

  #answer(): void {
    const { sudoPassword, host, user } = this.#context;
    if (sudoPassword === undefined || this.stderr.started) return;
    const asked = this.stderr.countInNoise(this.#marks.prompt);
    if (asked === 1 && !this.#answered) {
      this.#answered = true;
      this.#carrier.stdin.write(`${sudoPassword}\n`);
    } else if (asked > 1) {
      this.#fail(
        new EscapementError("E_HOST_SUDO", {
          host,
          user,
          reason: "the password is wrong",
          hint: `check the file named by sudoPasswordFile; it must hold the password of ${user} on ${host}`,
        }),
      );
    }
  }

  #feed(): void {
    if (this.#fed || !this.stdout.started || !this.stderr.started) return;
    this.#fed = true;
    this.#talk?.begin();
    if (this.#talk) return;
    const { stdin } = this.#carrier;
    const { stdin: input } = this.#request;
    if (typeof input !== "function") {
      stdin.end(input ?? "");
      return;
    }
    const source = input();
    // Input that cannot be read to its end ends early; whoever needs all of it checks a sum.
    source.on("error", () => stdin.end());
    stdin.on("close", () => source.destroy());
    source.pipe(stdin);
  }
}

function deferred(): { promise: Promise<never>; reject: (error: unknown) => void } {
  let reject!: (error: unknown) => void;
  const promise = new Promise<never>((_, fail) => {
    reject = fail;
  });
  return { promise, reject };
}

/** Runs `body`, and after the deadline kills what it registered and throws E_HOST_TIMEOUT. */
async function withDeadline<T>(
  request: CommandRequest,
  host: string,
  body: (onKill: (kill: () => void) => void) => Promise<T>,
): Promise<T> {
  let kill: (() => void) | undefined;
  let late = false;
  const expired = deferred();
  const timer = setTimeout(() => {
    late = true;
    kill?.();
    expired.reject(
      new EscapementError("E_HOST_TIMEOUT", {
        host,
        what: request.argv[0] ?? "a command",
        limit: formatDuration(request.deadlineMs),
      }),
    );
  }, request.deadlineMs);
  try {
    const running = body((killIt) => {
      kill = killIt;
      if (late) killIt();
    });
    running.catch(() => {});
    return await Promise.race([running, expired.promise]);
  } finally {
    clearTimeout(timer);
  }
}

/** It ended before the command began: sudo said no, or the login shell runs no commands. */
function notStarted(
  request: CommandRequest,
  { host, user, sudoPassword }: CommandContext,
  stdout: MarkedStream,
  stderr: MarkedStream,
): EscapementError {
  const lines = `${stdout.noise}\n${stderr.noise}`
    .split("\n")
    .map((line) => line.replace(/escapement-sudo-\w+~/, "").trim())
    .filter((line) => line !== "");
  if (request.asRoot) {
    const reason = lines.findLast((line) => /sudo/i.test(line)) ?? lines.at(-1) ?? "it said nothing";
    const hint =
      sudoPassword === undefined
        ? "set sudoPasswordFile in the inventory, or allow the user sudo without a password"
        : `allow ${user} in /etc/sudoers.d on the host`;
    return new EscapementError("E_HOST_SUDO", { host, user, reason: reason.replace(/^sudo: /, ""), hint });
  }
  const reason = `its login shell ran nothing: ${lines.at(-1) ?? "it said nothing"}`;
  return new EscapementError("E_HOST_AUTH", {
    host,
    user,
    reason,
    hint: "use a user with a login shell such as /bin/sh",
  });
}
