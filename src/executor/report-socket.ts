/**
 * The Unix socket at which children report and ask: one JSON object a line, one
 * answer a line, in order. A child shows the capability of its attempt first.
 *
 *   {"token":"…"}                     → {"ok":true}
 *   {"rows":120}                      → {"ok":true}            rows done so far, the last one counts
 *   {"checkpoint":"…","rows":120}     → {"ok":true,"held":true}
 *   {"get":"checkpoint"}              → {"ok":true,"checkpoint":"…","rows":120}
 *   {"get":"keys"}                    → {"ok":true,"keys":["…"]}
 *   {"hold":true}                     → {"ok":true,"held":true,"trustedForMs":8123}
 *   {"log":"…"}                       → {"ok":true}
 *   anything else                     → {"ok":false,"error":"…"}
 */
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { z } from "zod";
import { messageOf } from "../base/errors.ts";
import { LineSplitter } from "../base/lines.ts";
import type { Log } from "../base/log.ts";
import type { Attempt } from "./attempt.ts";
import { type HostFacts, isProcessGone } from "./host-facts.ts";

const count = z.int().min(0);
const request = z.union([
  z.strictObject({ checkpoint: z.string(), rows: count.optional() }),
  z.strictObject({ rows: count }),
  z.strictObject({ get: z.enum(["checkpoint", "keys"]) }),
  z.strictObject({ hold: z.literal(true) }),
  z.strictObject({ log: z.string() }),
]);
export type ReportRequest = z.infer<typeof request>;

export interface ReportHandler {
  readonly byCapability: (capability: string) => Attempt | undefined;
  /** @returns the fields of the answer. @throws what is then answered as an error */
  readonly answer: (attempt: Attempt, request: ReportRequest) => Promise<Record<string, unknown>>;
}

/** A longer request is refused; a checkpoint is a place, not the data. */
const longestRequest = 1 << 20;
/** What the kernel allows is 107 bytes; children may add nothing to it. */
const longestPath = 100;
const lookEveryMs = 1_000;
const folderPattern = /^escapement-(\d+)-(\d+)-/;

export class ReportSocket {
  readonly path: string;
  readonly #handler: ReportHandler;
  readonly #log: Log;
  readonly #shared: boolean;
  #server: Server | undefined;
  #timer: NodeJS.Timeout | undefined;

  /** @param shared children run as other users: everybody may connect, and the capability alone decides */
  constructor(host: HostFacts, handler: ReportHandler, log: Log, shared = false) {
    this.path = join(makeFolder(host), "report");
    this.#shared = shared;
    this.#handler = handler;
    this.#log = log;
  }

  async open(): Promise<void> {
    await this.#listen();
    // The folder is scratch space like any other: should it be cleaned away, it is made again.
    this.#timer = setInterval(() => {
      if (!existsSync(this.path)) void this.#reopen();
    }, lookEveryMs);
    this.#timer.unref();
  }

  close(): void {
    clearInterval(this.#timer);
    this.#server?.close();
    rmSync(dirname(this.path), { recursive: true, force: true });
  }

  async #reopen(): Promise<void> {
    this.#server?.close();
    try {
      await this.#listen();
      this.#log.warn({ path: this.path }, "the report socket was removed; made it again");
    } catch (error) {
      this.#log.error({ error }, "the report socket was removed and cannot be made again");
    }
  }

  #listen(): Promise<void> {
    mkdirSync(dirname(this.path), { recursive: true, mode: 0o700 });
    if (this.#shared) chmodSync(dirname(this.path), 0o711);
    const server = createServer((socket) => this.#serve(socket));
    this.#server = server;
    return new Promise((resolve, reject) => {
      server.once("error", reject);
      server.listen(this.path, () => {
        server.off("error", reject);
        if (this.#shared) chmodSync(this.path, 0o666);
        server.on("error", (error) => this.#log.warn({ error }, "report socket"));
        resolve();
      });
    });
  }

  #serve(socket: Socket): void {
    const lines = new LineSplitter(longestRequest);
    let attempt: Attempt | undefined;
    let queue = Promise.resolve();
    const handle = async (line: string) => {
      let answer: Record<string, unknown>;
      try {
        const message: unknown = JSON.parse(line);
        const token = (message as { token?: unknown } | null)?.token;
        if (typeof token === "string") {
          attempt = this.#handler.byCapability(token);
          answer = attempt ? { ok: true } : { ok: false, error: "no attempt with this token runs here" };
        } else if (attempt)
          answer = { ok: true, ...(await this.#handler.answer(attempt, request.parse(message))) };
        else answer = { ok: false, error: 'first send {"token":"…"}' };
      } catch (error) {
        answer = {
          ok: false,
          error: error instanceof z.ZodError ? "not a request that I know" : messageOf(error),
        };
      }
      socket.write(`${JSON.stringify(answer)}\n`);
    };
    socket.setEncoding("utf8");
    socket.on("error", () => {});
    socket.on("data", (text: string) => {
      for (const line of lines.push(text)) if (line.trim() !== "") queue = queue.then(() => handle(line));
    });
  }
}

/** A folder of our own with a short path; those of executors that are gone are removed. */
function makeFolder(host: HostFacts): string {
  const places = [process.env.RUNTIME_DIRECTORY?.split(":")[0], tmpdir(), "/tmp"].filter(
    (place): place is string => place !== undefined && place !== "",
  );
  const prefix = `escapement-${host.pid}-${/^\d+$/.test(host.processStart) ? host.processStart : 0}-`;
  const room = longestPath - `/${prefix}XXXXXX/report`.length;
  const parent = places.find((place) => place.length <= room) ?? "/tmp";
  removeStale(parent);
  return mkdtempSync(join(parent, prefix));
}

function removeStale(parent: string): void {
  try {
    for (const name of readdirSync(parent)) {
      const match = folderPattern.exec(name);
      if (match && match[2] !== "0" && isProcessGone(Number(match[1]), match[2]!))
        rmSync(join(parent, name), { recursive: true, force: true });
    }
  } catch {
    // Someone else's folder, or a parent that may not be listed: nothing that we need.
  }
}
