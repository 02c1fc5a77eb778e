/**
 * One ssh connection over one or more hops. The key of every hop is judged
 * under the hop's own name before anything is offered to it.
 */
import type { Duplex } from "node:stream";
import ssh2, { type Client } from "ssh2";
import { formatDuration } from "../base/duration.ts";
import { EscapementError, isEscapementError, messageOf } from "../base/errors.ts";
import { algorithmsOfType, fingerprintOf, hostKeyAlgorithms, keyTypeOf } from "./host-key.ts";
import { type Identity, offerInTurn, readIdentity } from "./identity.ts";
import { judgeKey, type KnownHost, knownTypes } from "./known-hosts.ts";
import { readKnownHosts } from "./known-hosts-files.ts";
import { ProxyCommand } from "./proxy-command.ts";
import type { Hop } from "./route.ts";

/** Silence of this long, three times over, is a lost connection. */
const keepAliveMs = 15_000;
const keepAliveCount = 3;
const goodbyeMs = 1_000;

/** What one connection attempt is for. */
export interface HopPlan {
  readonly algorithms: readonly string[];
  /** Judges the key that the host shows; what it returns ends the attempt. */
  readonly judge: (blob: Buffer) => Error | undefined;
  readonly identity: Identity;
}

/** Open connections, the last to the host itself; all are needed as long as the last is. */
export interface Chain {
  readonly client: Client;
  end(): void;
}

/** Opens every hop of a route. @throws E_HOST_UNREACHABLE, E_HOST_KEY_…, E_HOST_AUTH */
export async function openChain(
  route: readonly Hop[],
  {
    planOf = planLogin,
    signal,
  }: {
    readonly planOf?: (hop: Hop, last: boolean) => Promise<HopPlan>;
    /** Gives up when it fires. */
    readonly signal?: AbortSignal;
  } = {},
): Promise<Chain> {
  const clients: Client[] = [];
  const end = () => {
    for (const client of [...clients].reverse()) {
      client.end();
      // A host that does not answer the goodbye holds nobody up.
      setTimeout(() => client.destroy(), goodbyeMs).unref();
    }
  };
  try {
    let through: Duplex | undefined;
    for (const [i, hop] of route.entries()) {
      const plan = await planOf(hop, i === route.length - 1);
      const client = await openHop(hop, plan, through, signal);
      clients.push(client);
      const next = route[i + 1];
      if (next) through = await forward(client, hop, next);
    }
    return { client: clients.at(-1)!, end };
  } catch (error) {
    for (const client of clients.reverse()) client.destroy();
    throw error;
  }
}

/** What is needed to log in: known keys, and who we are. */
export async function planLogin(hop: Hop): Promise<HopPlan> {
  const { entries } = await readKnownHosts(hop.knownHostsFiles);
  const preferred = knownTypes(entries, hop.keyName).flatMap(algorithmsOfType);
  return {
    algorithms: [...new Set([...preferred, ...hostKeyAlgorithms])],
    judge: (blob) => judgeFor(hop, entries, blob),
    identity: await readIdentity(hop),
  };
}

function judgeFor(hop: Hop, entries: readonly KnownHost[], blob: Buffer): EscapementError | undefined {
  const verdict = judgeKey(entries, hop.keyName, blob);
  const type = keyTypeOf(blob) ?? "unknown";
  const fingerprint = fingerprintOf(blob);
  const place = ({ file, line }: KnownHost) => `${file}:${line}`;
  if (verdict.verdict === "known") return undefined;
  const { host } = hop;
  if (verdict.verdict === "revoked")
    return new EscapementError("E_HOST_KEY_REVOKED", {
      host,
      type,
      fingerprint,
      place: place(verdict.entry),
    });
  if (verdict.verdict === "changed") {
    const known = verdict.entries
      .map((entry) => `${entry.type} ${fingerprintOf(entry.key)} at ${place(entry)}`)
      .join(", ");
    const authority = verdict.authority
      ? `; the certificate authority at ${place(verdict.authority)} is not asked: certificates are not supported`
      : "";
    return new EscapementError("E_HOST_KEY_CHANGED", {
      host,
      type,
      fingerprint,
      known: `${known}${authority}`,
    });
  }
  const advice = verdict.authority
    ? `${place(verdict.authority)} names a certificate authority, which is not supported; add the key itself with: escapement hosts trust ${host}`
    : `compare it with the host's own, then: escapement hosts trust ${host}`;
  return new EscapementError("E_HOST_KEY_UNKNOWN", { host, type, fingerprint, hint: advice });
}

/** @param through what an earlier hop forwards; without it a new TCP connection */
function openHop(hop: Hop, plan: HopPlan, through?: Duplex, signal?: AbortSignal): Promise<Client> {
  return new Promise((resolve, reject) => {
    const client = new ssh2.Client();
    const proxy = through || hop.proxyLine === undefined ? undefined : new ProxyCommand(hop.proxyLine);
    const sock = through ?? proxy?.stream;
    client.once("close", () => proxy?.end());
    let refused: Error | undefined;
    const stop = () => fail(new EscapementError("E_INTERRUPTED", { signal: "request" }));
    const fail = async (error: unknown) => {
      signal?.removeEventListener("abort", stop);
      const ours = refused ?? (isEscapementError(error) ? error : undefined);
      // A broken connection says less than the command that was to make it.
      const said = ours || isAnswer(error) ? undefined : await proxy?.howItEnded();
      client.destroy();
      void proxy?.end();
      reject(ours ?? failureOf(hop, said === undefined ? error : new Error(said), plan.identity));
    };
    client.on("connect", () => client.setNoDelay(true));
    client.once("ready", () => {
      signal?.removeEventListener("abort", stop);
      client.removeListener("error", onError);
      client.removeListener("close", onClose);
      // From here on the end is told by "close"; what was said before it is of no more use.
      client.on("error", () => {});
      resolve(client);
    });
    const onError = (error: Error & { level?: string }) => {
      // The agent is not the only way in.
      if (error.level !== "agent") fail(error);
    };
    const onClose = () => fail(new Error("it closed the connection"));
    client.on("error", onError);
    client.on("close", onClose);
    if (signal?.aborted) return stop();
    signal?.addEventListener("abort", stop, { once: true });
    try {
      client.connect({
        host: hop.address,
        port: hop.port,
        username: hop.user,
        ...(sock && { sock: sock as never }),
        readyTimeout: hop.connectTimeoutMs,
        keepaliveInterval: keepAliveMs,
        keepaliveCountMax: keepAliveCount,
        algorithms: { serverHostKey: plan.algorithms as never },
        hostVerifier: (blob: Buffer) => {
          try {
            refused = plan.judge(blob);
          } catch (error) {
            refused = error instanceof Error ? error : new Error(String(error));
          }
          return refused === undefined;
        },
        authHandler: offerInTurn(plan.identity.offers) as never,
        agentForward: false,
      });
    } catch (error) {
      fail(error);
    }
  });
}

/** True where the host did answer, or was given its time to. */
function isAnswer(error: unknown): boolean {
  const { level } = error as { level?: string };
  return ["handshake", "client-authentication", "client-timeout"].includes(level ?? "");
}

/** What ssh2 says, as one of the codes. */
function failureOf(hop: Hop, error: unknown, { offers, passedOver }: Identity): EscapementError {
  const { level } = error as { level?: string };
  const { host, user } = hop;
  if (level === "client-authentication") {
    const tried = offers.length === 0 ? "there is no key to offer" : "it accepted none of the keys";
    const reason = [tried, ...passedOver].join("; ");
    const hint =
      offers.length === 0
        ? "set identityFile in the inventory, or start an agent and add a key with ssh-add"
        : `put the public key into ~/.ssh/authorized_keys of ${user} on the host`;
    return new EscapementError("E_HOST_AUTH", { host, user, reason, hint }, { cause: error });
  }
  const said = messageOf(error);
  const reason =
    level === "client-timeout"
      ? `no answer within ${formatDuration(hop.connectTimeoutMs)}`
      : said.replace(/^connect /, "").replace(/^Handshake failed: /, "the handshake failed: ");
  return new EscapementError(
    "E_HOST_UNREACHABLE",
    { host, reason, address: `${hop.address}:${hop.port}` },
    { cause: error },
  );
}

function forward(client: Client, from: Hop, to: Hop): Promise<Duplex> {
  const unreachable = (reason: string) =>
    new EscapementError("E_HOST_UNREACHABLE", {
      host: to.host,
      reason: `through ${from.host}: ${reason}`,
      address: `${to.address}:${to.port}`,
    });
  return new Promise((resolve, reject) => {
    const timer = setTimeout(
      () => reject(unreachable(`no answer within ${formatDuration(to.connectTimeoutMs)}`)),
      to.connectTimeoutMs,
    );
    const closed = () => reject(unreachable("it closed the connection"));
    client.once("close", closed);
    client.forwardOut("127.0.0.1", 0, to.address, to.port, (error, stream) => {
      clearTimeout(timer);
      client.removeListener("close", closed);
      if (error) reject(unreachable(messageOf(error).replace(/^\(SSH\) /, "")));
      else resolve(stream);
    });
  });
}
