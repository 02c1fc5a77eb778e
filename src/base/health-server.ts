/** Health and metrics of a daemon, for monitoring; read-only, no secrets. */
import { createServer, type Server } from "node:http";
import { EscapementError, messageOf } from "./errors.ts";
import { prometheusContentType } from "./prometheus.ts";

export interface HealthAnswers {
  /** Null when it is ready, else why not. */
  readonly notReady: () => string | null;
  readonly metrics: () => string;
}

/**
 * @param hint where the address is set, for the error
 * @throws E_UNAVAILABLE when the address cannot be listened on
 */
export function serveHealth(
  { address, port }: { readonly address: string; readonly port: number },
  answers: HealthAnswers,
  hint: string,
): Promise<Server> {
  const server = createServer((request, response) => {
    const send = (status: number, type: string, body: string) => {
      response.writeHead(status, { "content-type": type, "cache-control": "no-store" });
      response.end(request.method === "HEAD" ? undefined : body);
    };
    const text = "text/plain; charset=utf-8";
    if (request.method !== "GET" && request.method !== "HEAD") return send(405, text, "only GET\n");
    switch (request.url?.split("?")[0]) {
      case "/healthz":
        return send(200, text, "ok\n");
      case "/readyz": {
        const reason = answers.notReady();
        return reason === null ? send(200, text, "ready\n") : send(503, text, `not ready: ${reason}\n`);
      }
      case "/metrics":
        return send(200, prometheusContentType, answers.metrics());
      default:
        return send(404, text, "there is /healthz, /readyz and /metrics\n");
    }
  });
  server.requestTimeout = 10_000;
  return new Promise((resolve, reject) => {
    server.once("error", (error) =>
      reject(
        new EscapementError(
          "E_UNAVAILABLE",
          {
            what: `cannot listen on ${address}:${port}: ${messageOf(error)}`,
            hint,
          },
          { cause: error },
        ),
      ),
    );
    server.listen(port, address, () => {
      resolve(server);
    });
  });
}
