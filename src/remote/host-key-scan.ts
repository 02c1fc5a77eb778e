/** The keys a host shows, one of each kind, without logging in to it. Hosts on the way are logged in to as always. */
import { messageOf } from "../base/errors.ts";
import { fingerprintOf, keyTypeOf } from "./host-key.ts";
import type { RemoteTarget } from "./remote.ts";
import { type Hop, type RouteOptions, routeTo } from "./route.ts";
import { type HopPlan, openChain, planLogin } from "./ssh-client.ts";

export interface ShownKey {
  readonly type: string;
  /** `SHA256:…` */
  readonly fingerprint: string;
  readonly blob: Buffer;
}

export interface ShownKeys {
  /** Address, port and known_hosts files as the inventory and the ssh configuration say. */
  readonly hop: Hop;
  readonly keys: readonly ShownKey[];
}

const families = [
  ["ssh-ed25519"],
  ["ecdsa-sha2-nistp256", "ecdsa-sha2-nistp384", "ecdsa-sha2-nistp521"],
  ["rsa-sha2-512", "rsa-sha2-256"],
] as const;

/** @throws E_HOST_UNREACHABLE, and for hosts on the way whatever a login throws */
export async function scanHostKeys(target: RemoteTarget, options: RouteOptions = {}): Promise<ShownKeys> {
  const route = await routeTo(target, options);
  const hop = route.at(-1)!;
  const keys: ShownKey[] = [];
  for (const family of families) {
    const blob = await look(route, family);
    if (blob) keys.push({ type: keyTypeOf(blob) ?? "unknown", fingerprint: fingerprintOf(blob), blob });
  }
  return { hop, keys };
}

/** @returns undefined where the host has no key of these kinds */
async function look(route: readonly Hop[], algorithms: readonly string[]): Promise<Buffer | undefined> {
  let shown: Buffer | undefined;
  const only: HopPlan = {
    algorithms,
    judge(blob) {
      shown = Buffer.from(blob);
      return new Error("it has been seen; that was all");
    },
    identity: { offers: [], passedOver: [] },
  };
  try {
    const chain = await openChain(route, { planOf: async (hop, last) => (last ? only : planLogin(hop)) });
    chain.end();
  } catch (error) {
    if (shown || /no matching host key/i.test(messageOf(error))) return shown;
    throw error;
  }
  return shown;
}
