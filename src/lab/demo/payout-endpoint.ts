/**
 * The receiver of the bonus payouts: an HTTP server on 127.0.0.1 that pays each
 * idempotency key once. A key that it has seen is answered again, not paid again.
 * Its book is kept outside of everything that is killed, so it is an independent
 * witness: what it has twice for one person and fire was paid twice.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { z } from "zod";
import { sleep } from "../../base/monotonic.ts";

export interface AcceptedPayout {
  readonly key: string;
  readonly job: string;
  readonly fireMs: number;
  readonly person: string;
  readonly pence: number;
}

const body = z.object({
  person: z.string().min(1),
  pence: z.int().positive(),
  job: z.string().min(1),
  fireTime: z.iso.datetime(),
});

/** From paying to the answer; a caller that is killed in between cannot know whether it has paid. */
const answerDelayMs = 25;
const largestBody = 10_000;

export class PayoutEndpoint {
  readonly url: string;
  readonly accepted: AcceptedPayout[] = [];
  /** Requests that were answered, repeated ones included. */
  requests = 0;
  /** Requests with a key that was paid before. */
  repeats = 0;
  /** Requests that made no sense, or used a known key for something else. */
  refused = 0;
  readonly #server: Server;
  readonly #book = new Map<string, AcceptedPayout>();

  /** Use {@link startPayoutEndpoint}. */
  constructor(server: Server) {
    this.#server = server;
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/payouts`;
    server.on("request", (request, response) => {
      this.#answer(request, response).catch(() => response.destroy());
    });
  }

  close(): Promise<void> {
    return new Promise((resolve) => {
      this.#server.close(() => resolve());
      this.#server.closeAllConnections();
    });
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const text = await read(request);
    const key = request.headers["idempotency-key"];
    const parsed = body.safeParse(parseJson(text));
    this.requests += 1;
    if (typeof key !== "string" || key === "" || !parsed.success || request.method !== "POST") {
      this.refused += 1;
      return reply(response, 400, "a POST with an idempotency-key and a payout is needed");
    }
    const { person, pence, job, fireTime } = parsed.data;
    const payout = { key, person, pence, job, fireMs: Date.parse(fireTime) };
    const before = this.#book.get(key);
    if (before && JSON.stringify(before) !== JSON.stringify(payout)) {
      this.refused += 1;
      return reply(response, 422, "this key was used for another payout");
    }
    if (before) this.repeats += 1;
    else {
      this.#book.set(key, payout);
      this.accepted.push(payout);
    }
    await sleep(answerDelayMs);
    reply(response, before ? 200 : 201, "paid");
  }
}

/** Listens on a free port. */
export async function startPayoutEndpoint(): Promise<PayoutEndpoint> {
  const server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen({ host: "127.0.0.1", port: 0 }, resolve);
  });
  return new PayoutEndpoint(server);
}

async function read(request: IncomingMessage): Promise<string> {
  let text = "";
  for await (const chunk of request.setEncoding("utf8")) {
    text += chunk;
    if (text.length > largestBody) return "";
  }
  return text;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function reply(response: ServerResponse, status: number, message: string): void {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(`${JSON.stringify({ message })}\n`);
}
