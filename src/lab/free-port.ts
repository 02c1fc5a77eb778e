/** A loopback port for a server that this machine starts for a while. */
import { createServer } from "node:net";
import { EscapementError } from "../base/errors.ts";

// Below Linux's range for outgoing connections (32768 and up), so that no client
// takes the port away while its server is stopped for a moment.
const lowest = 20_000;
const count = 12_000;

/** @returns a TCP port on 127.0.0.1 that nothing listens on right now. @throws E_UNAVAILABLE after 100 tries */
export async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < 100; attempt++) {
    const port = lowest + Math.floor(Math.random() * count);
    if (await isFree(port)) return port;
  }
  throw new EscapementError("E_UNAVAILABLE", {
    what: "no free port on 127.0.0.1 was found in 100 tries",
    hint: `look at what listens between ${lowest} and ${lowest + count}: ss -ltn`,
  });
}

/** True when 127.0.0.1:`port` can be listened on. */
export function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen({ host: "127.0.0.1", port, exclusive: true }, () => server.close(() => resolve(true)));
  });
}
