/**
 * Hosts that exist only in memory: scripted answers, a simulated round trip and
 * every kind of trouble, for tests and for plans of hundreds of hosts. What a
 * command does is told by `answer`; a few commands of a real host work as well.
 */
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { formatDuration } from "../base/duration.ts";
import { EscapementError } from "../base/errors.ts";
import { monotonicMs, sleep } from "../base/monotonic.ts";
import { answerLikeAHost, talk } from "./fake-shell.ts";
import type { Connect, ExecRequest, ExecResult, Remote, RemoteTarget, UploadRequest } from "./remote.ts";

/** How a host fails on purpose. */
export interface FakeFaults {
  /** What comes of a connection. `hang`: nothing, until the connect timeout. */
  readonly connect?: "unreachable" | "hang" | "key-unknown" | "key-changed" | "key-revoked" | "auth";
  /** Every command as root is refused. */
  readonly sudo?: "refused" | "wrong-password";
  /** The host dies in the middle of the command with this number, counted from 1 over its life. */
  readonly dieInCommand?: number;
  /** Every file ends like this. */
  readonly upload?: "disk-full" | "corrupted";
  /** A command takes this many milliseconds more. */
  readonly slowMs?: number;
}

export interface FakeAnswer {
  readonly exitCode?: number | null;
  readonly signal?: string;
  readonly stdout?: string;
  readonly stderr?: string;
  /**
   * To a dialogue: what the command says to each piece of its input, after `stdout`. It ends when its input is
   * closed; one without this ends at once, whatever it is told.
   */
  readonly reply?: (input: string) => string | Promise<string>;
  /** How long the command itself takes. */
  readonly takesMs?: number;
}

export interface FakeFile {
  readonly bytes: Uint8Array;
  readonly mode: number;
  readonly byRoot: boolean;
}

export interface FakeHostOptions {
  /** One round trip. A login costs seven, a command two, as measured with a real host. Default 0. */
  readonly roundTripMs?: number;
  readonly faults?: FakeFaults;
  /** The answer to a command; undefined leaves it to the few built-in ones. */
  readonly answer?: (
    request: ExecRequest,
    host: FakeHost,
  ) => FakeAnswer | undefined | Promise<FakeAnswer | undefined>;
}

const tripsOfLogin = 7;
const tripsOfCommand = 2;

/** One machine in memory. It outlives its connections, as a machine does. */
export class FakeHost {
  readonly files = new Map<string, FakeFile>();
  /** Every command, in the order in which they began. */
  readonly requests: ExecRequest[] = [];
  /** May be changed while the host runs. */
  options: FakeHostOptions;
  connections = 0;
  dead = false;

  constructor(options: FakeHostOptions = {}) {
    this.options = options;
  }
}

/** Connects to the hosts of a map by name; a name that is not there is unreachable. */
export function fakeConnector(hosts: ReadonlyMap<string, FakeHost>): Connect {
  return async (target) => {
    const host = hosts.get(target.host);
    const { roundTripMs = 0, faults = {} } = host?.options ?? {};
    if (faults.connect === "hang") await sleep(target.connectTimeoutMs);
    else if (roundTripMs > 0) await sleep(roundTripMs * tripsOfLogin);
    const error = refusal(target, host === undefined || host.dead ? "unreachable" : faults.connect);
    if (error) throw error;
    host!.connections++;
    return new FakeRemote(target, host!);
  };
}

function refusal(target: RemoteTarget, fault: FakeFaults["connect"]): EscapementError | undefined {
  const { host, user } = target;
  const key = { host, type: "ssh-ed25519", fingerprint: "SHA256:fake" };
  const address = `${target.address}:${target.port}`;
  const limit = formatDuration(target.connectTimeoutMs);
  switch (fault) {
    case undefined:
      return undefined;
    case "unreachable":
      return new EscapementError("E_HOST_UNREACHABLE", { host, address, reason: "connection refused" });
    case "hang":
      return new EscapementError("E_HOST_UNREACHABLE", {
        host,
        address,
        reason: `no answer within ${limit}`,
      });
    case "key-unknown":
      return new EscapementError("E_HOST_KEY_UNKNOWN", { ...key, hint: `escapement hosts trust ${host}` });
    case "key-changed":
      return new EscapementError("E_HOST_KEY_CHANGED", { ...key, known: "ssh-ed25519 SHA256:other" });
    case "key-revoked":
      return new EscapementError("E_HOST_KEY_REVOKED", { ...key, place: "known_hosts:1" });
    case "auth":
      return new EscapementError("E_HOST_AUTH", {
        host,
        user,
        reason: "it accepted none of the keys",
        hint: "put the public key on the host",
      });
  }
}

class FakeRemote implements Remote {
  readonly host: string;
  readonly #target: RemoteTarget;
  readonly #machine: FakeHost;
  readonly #closing = new AbortController();

  constructor(target: RemoteTarget, machine: FakeHost) {
    this.host = target.host;
    this.#target = target;
    this.#machine = machine;
  }

  async exec(request: ExecRequest): Promise<ExecResult> {
    const startedMs = monotonicMs();
    const { roundTripMs = 0, faults = {}, answer } = this.#machine.options;
    this.#stillThere();
    this.#machine.requests.push(request);
    const dies = this.#machine.requests.length === faults.dieInCommand;
    if (request.asRoot) this.#sudo(faults.sudo);
    const said = (await answer?.(request, this.#machine)) ?? answerLikeAHost(request, this.#machine);
    const needsMs = roundTripMs * tripsOfCommand + (faults.slowMs ?? 0) + (said.takesMs ?? 0);
    const late = needsMs > request.deadlineMs;
    if (needsMs > 0) await sleep(Math.min(needsMs, request.deadlineMs), this.#closing.signal);
    if (dies) this.#machine.dead = true;
    this.#stillThere();
    if (late) throw this.#timeout(request);
    const limit = request.maxOutputBytes ?? Number.POSITIVE_INFINITY;
    const { exitCode = 0, signal, stderr = "" } = said;
    const untilMs = startedMs + request.deadlineMs;
    const stdout = request.dialogue ? await this.#talk(request, said, untilMs) : (said.stdout ?? "");
    return {
      exitCode,
      ...(signal !== undefined && { signal }),
      stdout: stdout.slice(0, limit),
      stderr: stderr.slice(0, limit),
      truncated: stdout.length > limit || stderr.length > limit,
      durationMs: monotonicMs() - startedMs,
    };
  }

  async #talk(request: ExecRequest, said: FakeAnswer, untilMs: number): Promise<string> {
    const heard = await talk(request.dialogue!, said, async () => {
      await sleep(this.#machine.options.roundTripMs ?? 0, this.#closing.signal);
      this.#stillThere();
      if (monotonicMs() > untilMs) throw this.#timeout(request);
    });
    if (heard !== undefined) return heard;
    await sleep(untilMs - monotonicMs(), this.#closing.signal);
    this.#stillThere();
    throw this.#timeout(request);
  }

  async upload({ content, path, mode, sha256, asRoot }: UploadRequest): Promise<void> {
    const { roundTripMs = 0, faults = {} } = this.#machine.options;
    this.#stillThere();
    if (asRoot) this.#sudo(faults.sudo);
    if (roundTripMs > 0) await sleep(roundTripMs * tripsOfCommand, this.#closing.signal);
    this.#stillThere();
    const fail = (reason: string) => new EscapementError("E_HOST_UPLOAD", { host: this.host, path, reason });
    if (!path.startsWith("/")) throw fail("the path is not absolute");
    const bytes = "file" in content ? await readFile(content.file).catch(() => undefined) : content.bytes;
    if (!bytes) throw fail("the file to send cannot be read");
    if (faults.upload === "disk-full") throw fail("No space left on device");
    const arrived = faults.upload === "corrupted" ? bytes.subarray(1) : bytes;
    const sum = createHash("sha256").update(arrived).digest("hex");
    if (sum !== sha256) throw fail(`the host has SHA-256 ${sum}, wanted is ${sha256}`);
    this.#machine.files.set(path, { bytes: arrived, mode, byRoot: asRoot ?? false });
  }

  async close(): Promise<void> {
    this.#closing.abort();
  }

  #stillThere(): void {
    const reason = this.#closing.signal.aborted
      ? "it was closed on this side"
      : this.#machine.dead
        ? "it closed the connection"
        : undefined;
    if (reason !== undefined)
      throw new EscapementError("E_HOST_LOST", { host: this.host, what: "a command", reason });
  }

  #timeout({ argv, deadlineMs }: ExecRequest): EscapementError {
    const limit = formatDuration(deadlineMs);
    return new EscapementError("E_HOST_TIMEOUT", { host: this.host, what: argv[0] ?? "a command", limit });
  }

  #sudo(fault: FakeFaults["sudo"]): void {
    if (fault === undefined) return;
    const { user } = this.#target;
    const reason = fault === "refused" ? `${user} is not in the sudoers file` : "the password is wrong";
    throw new EscapementError("E_HOST_SUDO", {
      host: this.host,
      user,
      reason,
      hint: `allow ${user} in /etc/sudoers.d on the host`,
    });
  }
}
