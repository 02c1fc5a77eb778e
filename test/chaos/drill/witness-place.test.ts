/** A place that the witness cannot have is a refusal with what helps, before anything is touched. */
import { createServer, type Server } from "node:net";
import { afterAll, beforeAll, expect, it } from "vitest";
import { DrillLoad } from "../../../src/chaos/drill/drill-load.ts";
import type { ReferenceClock } from "../../../src/chaos/drill/reference-clock.ts";
import type { RunDrillOptions } from "../../../src/chaos/drill/run-options.ts";
import { witnessPlace } from "../../../src/chaos/drill/witness-place.ts";
import { closedPort } from "../../cli/drill/cluster-files.ts";

const command = ["probe"] as const;
let server: Server;
let taken: number;

beforeAll(async () => {
  server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  taken = (server.address() as { port: number }).port;
});
afterAll(() => server.close());

it("a port that is taken: --port", async () => {
  expect(await witnessPlace({ command, address: "127.0.0.1", port: taken })).toMatchObject({
    ok: false,
    what: `this machine can listen at 127.0.0.1 port ${taken}`,
    detail: expect.stringContaining("EADDRINUSE"),
    hint: expect.stringContaining("--port 0"),
    everywhere: true,
  });
});

it("an address of another machine: --address", async () => {
  expect(await witnessPlace({ command, address: "192.0.2.1", port: 0 })).toMatchObject({
    ok: false,
    hint: expect.stringContaining("--address"),
  });
});

it.each(["any", "a free one"])("%s: it listens there once, and not any more", async (which) => {
  const port = which === "any" ? 0 : await closedPort();
  const place = { command, address: "127.0.0.1", port };
  for (let nth = 0; nth < 2; nth++) expect(await witnessPlace(place)).toMatchObject({ ok: true });
});

it("taken since it was asked for: the load does not begin, and it is a refusal, too", async () => {
  const options = {
    cluster: { name: "small" },
    definition: { load: { jobs: 1, shardMs: 1 } },
    probe: { command, address: "127.0.0.1", port: taken },
  } as unknown as RunDrillOptions;
  await expect(DrillLoad.begin(options, "run", {} as ReferenceClock)).rejects.toMatchObject({
    code: "E_DRILL_REFUSED",
    message: expect.stringContaining("EADDRINUSE"),
    hint: expect.stringContaining("--port 0"),
  });
});
