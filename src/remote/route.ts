/** The hops to a host, each complete: what the inventory says, and for the rest the user's own ssh configuration. */
import { EscapementError } from "../base/errors.ts";
import { parseHostAddress } from "../spec/host-address.ts";
import { knownHostName } from "./known-hosts.ts";
import { fillProxyCommand } from "./proxy-command.ts";
import type { RemoteTarget } from "./remote.ts";
import { askSshConfig, type SshConfig, withoutSsh } from "./ssh-config.ts";

/** One ssh server on the way, the last being the host itself. */
export interface Hop {
  readonly host: string;
  readonly address: string;
  readonly port: number;
  readonly user: string;
  /** `named`: by the inventory; such a file must be there. */
  readonly identityFiles: readonly { readonly path: string; readonly named: boolean }[];
  readonly knownHostsFiles: readonly string[];
  /** The name to look up in them. */
  readonly keyName: string;
  /** Undefined: no agent. */
  readonly agentSocket?: string;
  readonly connectTimeoutMs: number;
  /** The command line that leads to it, in place of a TCP connection; only the first hop has one. */
  readonly proxyLine?: string;
}

export interface RouteOptions {
  /** In place of the user's and the system's ssh configuration. */
  readonly sshConfigFile?: string;
  /** The agent to ask; null for none. Default: that of the ssh configuration, else SSH_AUTH_SOCK. */
  readonly agentSocket?: string | null;
}

/** How many hops a configuration may lead through, against circles. */
const mostHops = 8;

/** @throws E_HOST_UNREACHABLE where the configuration asks for something that is not supported */
export async function routeTo(target: RemoteTarget, options: RouteOptions = {}): Promise<readonly Hop[]> {
  return routeOf(target, options, 0);
}

async function routeOf(target: RemoteTarget, options: RouteOptions, depth: number): Promise<readonly Hop[]> {
  const config = await configFor(target, options);
  const refuse = (reason: string) =>
    new EscapementError("E_HOST_UNREACHABLE", {
      host: target.host,
      reason,
      address: `${target.address}:${target.port}`,
    });
  if (depth > mostHops) throw refuse("the jump hosts of the ssh configuration lead in a circle");
  const hops: Hop[] = [];
  for (const jump of target.jump) {
    const direct: RemoteTarget = { ...target, ...jump, jump: [], defaulted: withoutJump(jump) };
    hops.push(...(await routeOf(direct, options, depth + 1)));
  }
  const last = hopOf(target, config, options);
  if (target.jump.length === 0 && target.defaulted?.includes("jump")) {
    if (config.proxyCommand !== undefined && config.proxyJump.length === 0) {
      const proxy = config.proxyUsesDescriptor
        ? { refused: "the ssh configuration has ProxyUseFdpass, which is not supported" }
        : fillProxyCommand(config.proxyCommand, { ...last, given: target.address });
      if ("refused" in proxy) throw refuse(`${proxy.refused}; write jump in the inventory instead`);
      return [{ ...last, proxyLine: proxy.line }];
    }
    for (const [i, written] of config.proxyJump.entries()) {
      const jump = targetOfJump(written, target, i === 0);
      if (!jump) throw refuse(`the ssh configuration has a ProxyJump that is not understood: ${written}`);
      hops.push(...(await routeOf(jump, options, depth + 1)));
    }
  }
  return [...hops, last];
}

/** Jump hosts of the inventory are reached one from the other, whatever the ssh configuration says of each. */
function withoutJump({ defaulted = [] }: RemoteTarget): readonly ("user" | "port")[] {
  return defaulted.filter((field) => field !== "jump");
}

function targetOfJump(written: string, target: RemoteTarget, first: boolean): RemoteTarget | undefined {
  const address = parseHostAddress(written.replace(/^ssh:\/\//, ""));
  if (!address) return undefined;
  const { sudoPasswordFile: _, ...rest } = target;
  return {
    ...rest,
    host: address.address,
    address: address.address,
    user: address.user ?? target.user,
    port: address.port ?? 22,
    jump: [],
    defaulted: [
      ...(address.user === undefined ? (["user"] as const) : []),
      ...(address.port === undefined ? (["port"] as const) : []),
      ...(first ? (["jump"] as const) : []),
    ],
  };
}

async function configFor(target: RemoteTarget, { sshConfigFile }: RouteOptions): Promise<SshConfig> {
  const { defaulted = [] } = target;
  // Even a host about which the inventory says everything may have its agent or key name in the configuration.
  const given = {
    ...(!defaulted.includes("user") && { user: target.user }),
    ...(!defaulted.includes("port") && { port: target.port }),
  };
  return (await askSshConfig(target.address, given, sshConfigFile)) ?? withoutSsh(target);
}

function hopOf(target: RemoteTarget, config: SshConfig, options: RouteOptions): Hop {
  const { defaulted = [] } = target;
  const address = config.hostName ?? target.address;
  const port = (defaulted.includes("port") ? config.port : undefined) ?? target.port;
  const named = target.identityFiles.length > 0;
  const agentSocket = agentOf(config, options);
  return {
    host: target.host,
    address,
    port,
    user: (defaulted.includes("user") ? config.user : undefined) ?? target.user,
    identityFiles: (named ? target.identityFiles : config.identityFiles).map((path) => ({ path, named })),
    knownHostsFiles: target.knownHostsFiles.length > 0 ? target.knownHostsFiles : config.knownHostsFiles,
    keyName: config.hostKeyAlias?.toLowerCase() ?? knownHostName(address, port),
    ...(agentSocket !== undefined && { agentSocket }),
    connectTimeoutMs: target.connectTimeoutMs,
  };
}

function agentOf({ identityAgent }: SshConfig, { agentSocket }: RouteOptions): string | undefined {
  if (agentSocket === null || identityAgent === "none") return undefined;
  const configured = identityAgent === "SSH_AUTH_SOCK" ? undefined : identityAgent;
  return agentSocket ?? configured ?? process.env.SSH_AUTH_SOCK;
}
