/** One conversation of JSON lines over a Unix socket, as QEMU's monitor and guest agent speak. */
import { connect, type Socket } from "node:net";
import { EscapementError } from "../../base/errors.ts";
import { LineSplitter } from "../../base/lines.ts";

export type JsonLine = Readonly<Record<string, unknown>>;

export class JsonSocket {
  readonly #socket: Socket;
  readonly #lines: JsonLine[] = [];
  #wake: (() => void) | undefined;
  #ended = false;

  private constructor(socket: Socket) {
    this.#socket = socket;
    const splitter = new LineSplitter();
    socket.setEncoding("utf8").on("data", (text: string) => {
      for (const value of splitter.push(text).map(parse)) if (value) this.#lines.push(value);
      this.#wake?.();
    });
    socket.on("error", () => {});
    socket.on("close", () => {
      this.#ended = true;
      this.#wake?.();
    });
  }

  /** @throws E_LAB_STEP when nobody listens there */
  static open(path: string): Promise<JsonSocket> {
    return new Promise((resolve, reject) => {
      const socket = connect(path);
      socket.once("error", (error) => reject(failed(path, error.message)));
      socket.once("connect", () => resolve(new JsonSocket(socket)));
    });
  }

  send(value: unknown): void {
    this.#socket.write(`${JSON.stringify(value)}\n`);
  }

  /** The next line that `wanted` accepts; others are dropped. @throws E_LAB_STEP after `deadlineMs`, or at the end of the conversation */
  async receive(wanted: (line: JsonLine) => boolean, deadlineMs: number): Promise<JsonLine> {
    let late = false;
    const timer = setTimeout(() => {
      late = true;
      this.#wake?.();
    }, deadlineMs);
    try {
      for (;;) {
        for (let line = this.#lines.shift(); line; line = this.#lines.shift()) if (wanted(line)) return line;
        if (late || this.#ended)
          throw failed("a virtual machine", late ? "it does not answer" : "it closed the connection");
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
    } finally {
      clearTimeout(timer);
      this.#wake = undefined;
    }
  }

  close(): void {
    this.#socket.destroy();
  }
}

function failed(what: string, reason: string): EscapementError {
  return new EscapementError("E_LAB_STEP", { step: `talking to ${what}`, reason });
}

/** The agent marks a fresh start with a byte that is no text. */
function parse(line: string): JsonLine | undefined {
  try {
    return JSON.parse(line.replace(/^\ufffd+/, "")) as JsonLine;
  } catch {
    return undefined;
  }
}
