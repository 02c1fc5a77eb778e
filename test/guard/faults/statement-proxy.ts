/**
 * A TCP proxy in front of PostgreSQL that counts statements and can stop the world at one of them.
 *
 * A statement is one round trip of the protocol: a simple query, or everything up to Sync. Stopped
 * "before", the server has not seen it; stopped "after", the server has executed it and its
 * answer has not reached the client.
 */

import type { AddressInfo } from "node:net";
import { connect, createServer, type Server, type Socket } from "node:net";

export interface StopPoint {
  /** From 1, over all connections, in the order of arrival. */
  readonly statement: number;
  readonly when: "before" | "after";
}

export interface Hit {
  /** Text of the statement, for messages. */
  readonly text: string;
  /** Lets what was held back go on its way, if its line is still there. */
  release(how: "go" | "cut"): void;
}

export class StatementProxy {
  /** Resolves when the stop point is reached. */
  readonly hit: Promise<Hit>;
  statements = 0;
  /** New connections are closed at once while this is true. */
  refuses = false;
  readonly #target: { host: string; port: number };
  readonly #stop: StopPoint | undefined;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #onHit: (hit: Hit) => void = () => {};

  constructor(target: URL, stop?: StopPoint) {
    this.#target = { host: target.hostname, port: Number(target.port) };
    this.#stop = stop;
    this.hit = new Promise((resolve) => {
      this.#onHit = resolve;
    });
    this.#server = createServer((client) => this.#serve(client));
  }

  /** @returns the URL of the database, through the proxy */
  async listen(database: URL): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    const url = new URL(database.href);
    url.hostname = "127.0.0.1";
    url.port = String((this.#server.address() as AddressInfo).port);
    return url.href;
  }

  /** Cuts every connection, without a goodbye. */
  cut(): void {
    for (const socket of this.#sockets) socket.resetAndDestroy();
  }

  async close(): Promise<void> {
    this.cut();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #serve(client: Socket): void {
    if (this.refuses) {
      client.resetAndDestroy();
      return;
    }
    const server = connect(this.#target);
    for (const [socket, other] of [
      [client, server],
      [server, client],
    ] as const) {
      this.#sockets.add(socket);
      socket.setNoDelay(true);
      socket.on("error", () => {});
      socket.on("close", () => {
        this.#sockets.delete(socket);
        other.destroy();
      });
    }
    // While something is held back, everything behind it waits, too: order is part of the protocol.
    const toServer = new Gate((bytes) => server.write(bytes));
    const toClient = new Gate((bytes) => client.write(bytes));
    const splitter = new FrontendSplitter();
    client.on("data", (bytes) => {
      for (const batch of splitter.push(bytes)) {
        const isStop = batch.isStatement && this.#count(batch.isStatement);
        if (!isStop) toServer.pass(batch.bytes);
        else if (this.#stop?.when === "before") {
          toServer.hold();
          toServer.pass(batch.bytes);
          this.#onHit({ text: batch.text, release: () => toServer.open() });
        } else {
          toClient.holdAfterReady(() => this.#onHit({ text: batch.text, release: () => toClient.open() }));
          toServer.pass(batch.bytes);
        }
      }
    });
    server.on("data", (bytes) => toClient.pass(bytes));
  }

  #count(isStatement: boolean): boolean {
    if (isStatement) this.statements += 1;
    return this.statements === this.#stop?.statement;
  }
}

/** Passes bytes on, or keeps them. */
class Gate {
  readonly #write: (bytes: Buffer) => void;
  #kept: Buffer[] | undefined;
  #onReady: (() => void) | undefined;

  constructor(write: (bytes: Buffer) => void) {
    this.#write = write;
  }

  pass(bytes: Buffer): void {
    if (this.#kept === undefined) {
      this.#write(bytes);
      return;
    }
    this.#kept.push(bytes);
    // ReadyForQuery is the last message of an answer: Z, length 5, and one state letter.
    const tail = Buffer.concat(this.#kept).subarray(-6);
    if (this.#onReady && tail.length === 6 && tail[0] === 0x5a && tail.readInt32BE(1) === 5) {
      const onReady = this.#onReady;
      this.#onReady = undefined;
      onReady();
    }
  }

  hold(): void {
    this.#kept ??= [];
  }

  holdAfterReady(onReady: () => void): void {
    this.hold();
    this.#onReady = onReady;
  }

  open(): void {
    const kept = this.#kept ?? [];
    this.#kept = undefined;
    for (const bytes of kept) this.#write(bytes);
  }
}

interface Batch {
  readonly bytes: Buffer;
  readonly isStatement: boolean;
  readonly text: string;
}

/** Cuts the client's byte stream into round trips. */
class FrontendSplitter {
  #rest = Buffer.alloc(0);
  #batch: Buffer[] = [];
  #text = "";
  #isStarted = false;

  push(bytes: Buffer): Batch[] {
    this.#rest = Buffer.concat([this.#rest, bytes]);
    const done: Batch[] = [];
    for (;;) {
      const message = this.#take();
      if (message === undefined) return done;
      this.#batch.push(message.bytes);
      if (message.type === "Q") this.#text = message.bytes.subarray(5, -1).toString();
      if (message.type === "P") this.#text = message.bytes.subarray(5).toString().split("\0")[1] ?? "";
      const isStatement = message.type === "Q" || message.type === "S";
      if (!isStatement && !"Xp".includes(message.type) && message.type !== "") continue;
      done.push({ bytes: Buffer.concat(this.#batch), isStatement, text: this.#text });
      this.#batch = [];
    }
  }

  /** The startup message has no type byte; its type is "". */
  #take(): { type: string; bytes: Buffer } | undefined {
    const head = this.#isStarted ? 1 : 0;
    if (this.#rest.length < head + 4) return undefined;
    const length = head + this.#rest.readInt32BE(head);
    if (this.#rest.length < length) return undefined;
    const bytes = this.#rest.subarray(0, length);
    this.#rest = this.#rest.subarray(length);
    const type = this.#isStarted ? String.fromCharCode(bytes[0]!) : "";
    this.#isStarted = true;
    return { type, bytes };
  }
}
