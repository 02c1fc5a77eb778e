/** An HTTP server that keeps what it gets, can be down, and can answer badly. */
import { createServer, type IncomingHttpHeaders, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";

export interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into it
  readonly json: any;
}

export class Receiver {
  /** Everything that was asked, accepted or not. */
  readonly asked: Received[] = [];
  /** What was answered with 2xx. */
  readonly accepted: Received[] = [];
  /** The answer to a request. */
  answer: (request: Received) => { status: number; body?: string } | "nothing" = () => ({ status: 200 });
  #server: Server | undefined;
  #port = 0;

  /** Listens on a free port of this machine; ends with the test. */
  static async open(): Promise<Receiver> {
    const receiver = new Receiver();
    await receiver.up();
    onTestFinished(() => receiver.down());
    return receiver;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  /** Listens again, on the same port. */
  async up(): Promise<void> {
    const server = createServer((request, response) => {
      let body = "";
      request.setEncoding("utf8").on("data", (text: string) => (body += text));
      request.on("end", () => {
        const received = {
          path: request.url ?? "",
          headers: request.headers,
          body,
          json: body.startsWith("{") || body.startsWith("[") ? JSON.parse(body) : undefined,
        };
        this.asked.push(received);
        const answer = this.answer(received);
        if (answer === "nothing") return;
        if (answer.status < 300) this.accepted.push(received);
        response.writeHead(answer.status, { location: "/elsewhere", connection: "close" });
        response.end(answer.body);
      });
    });
    await new Promise<void>((resolve) => server.listen(this.#port, "127.0.0.1", resolve));
    this.#port = (server.address() as AddressInfo).port;
    this.#server = server;
  }

  async down(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    if (!server) return;
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
}
