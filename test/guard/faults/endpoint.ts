/** The payment endpoint of the fault tests: a real HTTP server whose own log is the truth. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface Payment {
  readonly key: string;
  /** What the payment is for: stem of the trial and person. */
  readonly stem: string;
  readonly person: string;
  readonly amount: number;
}

export interface RequestStop {
  readonly stem: string;
  /** From 1, the requests of this stem. */
  readonly request: number;
  readonly when: "before-accept" | "before-answer";
}

/** Lets a stopped request go on, or cuts its line there. */
export type Release = (how: "go" | "cut") => void;

/** `/deduplicating` accepts one key once and repeats its answer; `/plain` accepts whatever comes; `/refusing` nothing. */
export class PaymentEndpoint {
  /** Everything that was accepted, in order. */
  readonly accepted: Payment[] = [];
  readonly #server: Server;
  readonly #byKey = new Map<string, Payment>();
  readonly #requests = new Map<string, number>();
  readonly #stops = new Map<string, { stop: RequestStop; seen: number; onHit: (release: Release) => void }>();

  constructor() {
    this.#server = createServer((request, response) => void this.#serve(request, response));
  }

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  /** Resolves, with a way to go on, when the request is reached. */
  stopAt(stop: RequestStop): Promise<Release> {
    return new Promise((onHit) => this.#stops.set(stop.stem, { stop, seen: 0, onHit }));
  }

  /** How many requests came for this stem, accepted or not. */
  requestsOf(stem: string): number {
    return this.#requests.get(stem) ?? 0;
  }

  of(stem: string, person: string): Payment[] {
    return this.accepted.filter((one) => one.stem === stem && one.person === person);
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let text = "";
    for await (const part of request) text += String(part);
    const { stem, person, amount } = JSON.parse(text) as Omit<Payment, "key">;
    const key = String(request.headers["idempotency-key"]);
    this.#requests.set(stem, this.requestsOf(stem) + 1);
    if ((await this.#pause(stem, "before-accept", true)) === "cut") return void request.socket.destroy();
    const known = request.url === "/deduplicating" ? this.#byKey.get(key) : undefined;
    if (known === undefined && request.url !== "/refusing") {
      const payment = { key, stem, person, amount };
      this.#byKey.set(key, payment);
      this.accepted.push(payment);
    }
    if ((await this.#pause(stem, "before-answer", false)) === "cut") return void request.socket.destroy();
    if (request.url === "/refusing") response.statusCode = 422;
    response.end(JSON.stringify({ accepted: true, receipt: `r-${key}`, accessToken: "do-not-keep" }));
  }

  async #pause(stem: string, when: RequestStop["when"], isNew: boolean): Promise<"go" | "cut"> {
    const armed = this.#stops.get(stem);
    if (armed === undefined) return "go";
    if (isNew) armed.seen += 1;
    if (armed.stop.when !== when || armed.seen !== armed.stop.request) return "go";
    this.#stops.delete(stem);
    return await new Promise((release) => armed.onHit(release));
  }
}
