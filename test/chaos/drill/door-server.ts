/** Drill hosts of this process for a controller in another one, as sshd is for real ones. */
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import type {
  DrillHost,
  DrillOrder,
  DrillProgress,
  HostLook,
  Peer,
  PeerAnswer,
  ResidueAudit,
} from "../../../src/chaos/host/drill-host.ts";

/** Serves every host until it is closed. @returns the port */
export async function serveDoors(
  doors: ReadonlyMap<string, DrillHost>,
): Promise<{ readonly port: number; close(): void }> {
  const server = createServer((incoming, outgoing) => {
    let body = "";
    incoming.on("data", (part) => (body += part));
    incoming.on("end", () => {
      const { host, word, args } = JSON.parse(body);
      const door = doors.get(host) as unknown as Record<string, (...args: unknown[]) => Promise<unknown>>;
      door[word]!(...args).then(
        (answer) => outgoing.end(JSON.stringify({ answer: answer ?? null })),
        (error) => outgoing.end(JSON.stringify({ error: String(error) })),
      );
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { port: (server.address() as AddressInfo).port, close: () => server.close() };
}

/** The same host, seen from the other process. */
export class DistantDrillHost implements DrillHost {
  readonly host: string;
  readonly #port: number;

  constructor(host: string, port: number) {
    this.host = host;
    this.#port = port;
  }

  look(units: readonly string[], paths: readonly string[] = []): Promise<HostLook> {
    return this.#ask("look", units, paths);
  }

  reach(peer: Peer): Promise<PeerAnswer> {
    return this.#ask("reach", peer);
  }

  begin(order: DrillOrder): Promise<void> {
    return this.#ask("begin", order);
  }

  progress(run: string, afterSeq = 0): Promise<DrillProgress> {
    return this.#ask("progress", run, afterSeq);
  }

  halt(): Promise<{ halted: boolean; restoredMs: number }> {
    return this.#ask("halt");
  }

  audit(): Promise<ResidueAudit> {
    return this.#ask("audit");
  }

  async close(): Promise<void> {}

  #ask<T>(word: string, ...args: unknown[]): Promise<T> {
    return new Promise((resolve, reject) => {
      const asked = request({ host: "127.0.0.1", port: this.#port, method: "POST" }, (answer) => {
        let body = "";
        answer.on("data", (part) => (body += part));
        answer.on("end", () => {
          const said = JSON.parse(body);
          if (said.error === undefined) resolve(said.answer);
          else reject(new Error(said.error));
        });
      });
      asked.on("error", reject);
      asked.end(JSON.stringify({ host: this.host, word, args }));
    });
  }
}
