/** What is outside of a cluster and hears of it: takes alerts and heartbeats, on an address that hosts of a lab reach. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

export interface OutsideWorld {
  readonly url: string;
  close(): void;
}

export async function openOutsideWorld(address: string): Promise<OutsideWorld> {
  const server = createServer((request, response) => {
    request.resume().on("end", () => response.end());
  });
  await new Promise<void>((resolve) => server.listen(0, address, resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://${address}:${port}`, close: () => void server.close() };
}
