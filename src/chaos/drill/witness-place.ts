/** Where the witness listens: asked for before anything is touched, since every executor must be told of it. */
import { createServer } from "node:net";
import { EscapementError, messageOf } from "../../base/errors.ts";
import type { PreflightItem } from "../plan/cluster-items.ts";
import type { ProbeWish, RunDrillOptions } from "./run-options.ts";

const portHint = "--port 0 takes any free port, --port N another one; executors must be let through to it";
const addressHint = "--address names an address of this machine that executors reach";

/** Listens there for a moment. */
export async function witnessPlace({ address, port = 0 }: ProbeWish): Promise<PreflightItem> {
  const what = `this machine can listen at ${address} port ${port === 0 ? "0 (any)" : port}`;
  const server = createServer();
  try {
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen({ host: address, port }, resolve);
    });
    await new Promise((resolve) => server.close(resolve));
    return { what, ok: true, detail: "yes", everywhere: true };
  } catch (error) {
    return { what, ok: false, detail: messageOf(error), hint: hintFor(error), everywhere: true };
  }
}

/** Of a place that was free a moment ago, before any host was touched: a refusal, too. */
export function placeTaken(
  { cluster, probe }: Pick<RunDrillOptions, "cluster" | "probe">,
  error: unknown,
): EscapementError {
  const reason = `this machine cannot listen at ${probe.address} any more: ${messageOf(error)}`;
  const params = { host: cluster.name, reason, hint: `; ${hintFor(error)}` };
  return new EscapementError("E_DRILL_REFUSED", params, { cause: error });
}

function hintFor(error: unknown): string {
  const { code } = error as NodeJS.ErrnoException;
  return code === "EADDRINUSE" || code === "EACCES" ? portHint : addressHint;
}
