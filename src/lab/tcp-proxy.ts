/**
 * The network between a process and a server, as something that can be broken.
 *
 *            pause(direction)                 heal
 *   open ───────────────────────▶ paused ───────────────▶ open
 *     │                              │
 *     └────────────cut───────────────┴──▶ cut ──heal──▶ open
 *
 * paused: bytes, ends and resets are accepted and held; nobody learns anything,
 *         as when packets are dropped. `heal` lets them through, in order.
 * cut:    every connection, old or new, is reset at once; what was held is lost.
 */
import { createServer, type Server, Socket } from "node:net";

/** `to-server` holds what the client sends, `to-client` what the server answers. */
export type Direction = "to-server" | "to-client" | "both";

/** Held bytes of one direction of one connection; beyond it the sender itself is made to wait. */
const heldLimitBytes = 4 * 2 ** 20;

export interface ProxyTarget {
  readonly port: number;
  /** Default 127.0.0.1. */
  readonly host?: string;
}

/** Listens on a free port of 127.0.0.1 (or on `port`) and forwards to `target`. */
export async function startTcpProxy(target: ProxyTarget, port = 0): Promise<TcpProxy> {
  const server = createServer({ allowHalfOpen: true, noDelay: true });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen({ host: "127.0.0.1", port, exclusive: true }, resolve);
  });
  return new TcpProxy(server, target);
}

export class TcpProxy {
  readonly port: number;
  readonly #server: Server;
  readonly #connections = new Set<Connection>();
  #state: "open" | "paused" | "cut" = "open";
  #direction: Direction = "both";
  #accepted = 0;

  /** Use {@link startTcpProxy}. */
  constructor(server: Server, target: ProxyTarget) {
    this.#server = server;
    this.port = (server.address() as { port: number }).port;
    server.on("connection", (client) => {
      this.#accepted += 1;
      if (this.#state === "cut") {
        client.on("error", () => {});
        client.resetAndDestroy();
        return;
      }
      const connection = new Connection(client, target, () => this.#connections.delete(connection));
      this.#connections.add(connection);
      connection.hold(this.#holds("to-server"), this.#holds("to-client"));
    });
  }

  get state(): "open" | "paused" | "cut" {
    return this.#state;
  }

  /** Connections open now, and all that were ever accepted. */
  get connections(): { readonly open: number; readonly accepted: number } {
    return { open: this.#connections.size, accepted: this.#accepted };
  }

  /** Holds everything that goes this way, of old and new connections. */
  pause(direction: Direction = "both"): void {
    this.#state = "paused";
    this.#direction = direction;
    for (const one of this.#connections) one.hold(this.#holds("to-server"), this.#holds("to-client"));
  }

  /** Resets every connection, and every new one until `heal`. */
  cut(): void {
    this.#state = "cut";
    for (const one of [...this.#connections]) one.reset();
  }

  /** Lets what was held go on, and everything new through. */
  heal(): void {
    this.#state = "open";
    for (const one of this.#connections) one.hold(false, false);
  }

  /** Resets every connection and stops listening. */
  async close(): Promise<void> {
    this.cut();
    if (!this.#server.listening) return;
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #holds(direction: "to-server" | "to-client"): boolean {
    return this.#state === "paused" && (this.#direction === "both" || this.#direction === direction);
  }
}

/** One client and its connection to the server. */
class Connection {
  readonly #client: Socket;
  readonly #upstream = new Socket({ allowHalfOpen: true });
  readonly #target: ProxyTarget;
  readonly #toServer: Flow;
  readonly #toClient: Flow;
  readonly #forget: () => void;
  #connecting = false;

  constructor(client: Socket, target: ProxyTarget, forget: () => void) {
    this.#client = client;
    this.#target = target;
    this.#forget = forget;
    this.#upstream.setNoDelay(true);
    this.#toServer = new Flow(client, this.#upstream, () => this.reset());
    this.#toClient = new Flow(this.#upstream, client, () => this.reset());
    for (const socket of [client, this.#upstream]) {
      socket.on("close", () => {
        if (client.destroyed && this.#upstream.destroyed) this.#forget();
      });
    }
  }

  hold(toServer: boolean, toClient: boolean): void {
    // A server must not even see a connection that is made while its way is blocked.
    if (!toServer && !this.#connecting) {
      this.#connecting = true;
      this.#upstream.connect({ host: this.#target.host ?? "127.0.0.1", port: this.#target.port });
    }
    this.#toServer.hold(toServer);
    this.#toClient.hold(toClient);
  }

  reset(): void {
    // Node never closes a socket that is reset while its end is being sent.
    if (this.#client.writableEnded) this.#client.destroy();
    else this.#client.resetAndDestroy();
    // Before it is connected there is nobody to send a reset to.
    if (this.#upstream.readyState === "open") this.#upstream.resetAndDestroy();
    else this.#upstream.destroy();
    this.#forget();
  }
}

/** One direction: everything that `from` does happens to `to`, now or when it is no longer held. */
class Flow {
  readonly #from: Socket;
  readonly #to: Socket;
  readonly #broken: () => void;
  #holding = false;
  #held: Buffer[] = [];
  #heldBytes = 0;
  #ending: "no" | "end" | "reset" = "no";

  /** @param broken called when `from` broke off and `to` may learn of it */
  constructor(from: Socket, to: Socket, broken: () => void) {
    this.#from = from;
    this.#to = to;
    this.#broken = broken;
    from.on("data", (chunk: Buffer) => this.#pass(chunk));
    from.once("end", () => this.#finish("end"));
    from.once("error", () => this.#finish("reset"));
    to.on("drain", () => this.#resume());
  }

  hold(holding: boolean): void {
    this.#holding = holding;
    if (holding) return;
    for (const chunk of this.#held) this.#to.write(chunk);
    this.#held = [];
    this.#heldBytes = 0;
    this.#resume();
    if (this.#ending !== "no") this.#finish(this.#ending);
  }

  #pass(chunk: Buffer): void {
    if (this.#holding) {
      this.#held.push(chunk);
      this.#heldBytes += chunk.length;
      if (this.#heldBytes > heldLimitBytes) this.#from.pause();
    } else if (!this.#to.write(chunk)) {
      this.#from.pause();
    }
  }

  #resume(): void {
    if (!this.#holding && this.#from.isPaused()) this.#from.resume();
  }

  #finish(how: "end" | "reset"): void {
    this.#ending = how;
    if (this.#holding) return;
    if (how === "end") this.#to.end();
    else this.#broken();
  }
}
