/** A dialogue with a command that runs, over its standard input and output. */
import type { Writable } from "node:stream";
import { StringDecoder } from "node:string_decoder";
import type { Dialogue } from "./remote.ts";

export class Talk {
  readonly #dialogue: Dialogue;
  readonly #stdin: Writable;
  readonly #fail: (error: unknown) => void;
  readonly #decoder = new StringDecoder("utf8");
  /** What the command said before it could be spoken to. */
  #early = "";
  #state: "early" | "on" | "over" = "early";

  /** @param fail told what the dialogue throws */
  constructor(dialogue: Dialogue, stdin: Writable, fail: (error: unknown) => void) {
    this.#dialogue = dialogue;
    this.#stdin = stdin;
    this.#fail = fail;
  }

  /** The command can be spoken to. */
  begin(): void {
    this.#state = "on";
    this.#tell("");
    if (this.#early !== "") this.#tell(this.#early);
  }

  /** More of the command's standard output. */
  hear(bytes: Buffer): void {
    const piece = this.#decoder.write(bytes);
    if (piece === "") return;
    if (this.#state === "early") this.#early += piece;
    else this.#tell(piece);
  }

  /** Nothing is told or written any more: the request has its answer. */
  end(): void {
    this.#state = "over";
  }

  #tell(piece: string): void {
    if (this.#state === "over") return;
    try {
      const next = this.#dialogue(piece);
      if (next === null) {
        this.end();
        this.#stdin.end();
      } else if (next !== "") this.#stdin.write(next);
    } catch (error) {
      this.end();
      this.#fail(error);
    }
  }
}
