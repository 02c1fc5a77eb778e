/** The scheduler's read-only HTTP door: health, readiness, metrics, status. */
import { createServer, type Server } from "node:http";
import { EscapementError, messageOf } from "../base/errors.ts";
import { prometheusContentType } from "../base/prometheus.ts";
import type { HttpAddress } from "../spec/cluster-definition.ts";

export interface Readiness {
  readonly ready: boolean;
  /** Why not; empty when ready. */
  readonly reasons: readonly string[];
}

export interface HttpAnswers {
  readiness(): Readiness;
  metrics(): string;
  status(): Promise<Record<string, unknown>>;
}

/** Starts listening. @throws E_UNAVAILABLE when the address cannot be used */
export async function serveHttp(at: HttpAddress, answers: HttpAnswers): Promise<Server> {
  const server = createServer((request, response) => {
    const send = (code: number, type: string, body: string) => {
      response.writeHead(code, { "content-type": type, "cache-control": "no-store" });
      response.end(request.method === "HEAD" ? undefined : body);
    };
    const json = (code: number, body: unknown) => send(code, "application/json", `${JSON.stringify(body)}\n`);
    if (request.method !== "GET" && request.method !== "HEAD") {
      response.setHeader("allow", "GET, HEAD");
      return json(405, { error: "read-only" });
    }
    // Not parsed as a URL: "//" is a request that anybody can send, and no URL.
    switch ((request.url ?? "/").split("?", 1)[0]) {
      case "/healthz":
        return json(200, { healthy: true });
      case "/readyz": {
        const readiness = answers.readiness();
        return json(readiness.ready ? 200 : 503, readiness);
      }
      case "/metrics":
        return send(200, prometheusContentType, answers.metrics());
      case "/v1/status":
        answers.status().then(
          (status) => json(200, { schemaVersion: 1, ...status }),
          (error: unknown) => json(503, { error: messageOf(error) }),
        );
        return;
      default:
        return json(404, { error: "not found", paths: ["/healthz", "/readyz", "/metrics", "/v1/status"] });
    }
  });
  server.requestTimeout = 10_000;
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error) => {
      const what = `cannot listen on ${at.address}:${at.port}: ${messageOf(error)}`;
      reject(
        new EscapementError("E_UNAVAILABLE", {
          what,
          hint: "another process may use the port; it is set in the cluster file",
        }),
      );
    });
    server.listen(at.port, at.address, resolve);
  });
  return server;
}
