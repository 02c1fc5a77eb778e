/** An inventory document becomes a definition: defaults applied, settings merged, paths absolute, jumps looked up. */
import { homedir } from "node:os";
import { dirname, isAbsolute, join, resolve } from "node:path";
import { userName } from "../base/user-name.ts";
import { closest } from "./closest.ts";
import { parseHostAddress } from "./host-address.ts";
import type { HostTarget, InventoryHost, Settings, SettingValue } from "./inventory-definition.ts";
import type { InventoryDocument } from "./inventory-schema.ts";
import type { DocumentOf, Kind } from "./kinds.ts";
import type { LoadedDocument } from "./load.ts";
import type { LoadedInventory } from "./load-inventory.ts";
import { formatPath, formatPosition, type Path, type Position, type Problem } from "./problem.ts";
import { showValue } from "./schema-problems.ts";

type Spec = InventoryDocument["spec"];
type HostSpec = Spec["hosts"][number];

/** What resolving one inventory needs at hand. */
interface Context {
  readonly folder: string;
  readonly spec: Spec;
  readonly byName: ReadonlyMap<string, number>;
  readonly placeOf: (path: Path, what?: "key" | "value") => Position;
  readonly problems: Problem[];
}

/** @param document of kind Inventory, without problems of its own */
export function resolveInventory(document: LoadedDocument<Kind>): LoadedInventory {
  const { metadata, spec } = document.value as DocumentOf<"Inventory">;
  const file = resolve(document.file);
  const problems: Problem[] = [];
  const byName = new Map<string, number>();
  for (const [i, { name }] of spec.hosts.entries()) {
    const before = byName.get(name);
    if (before === undefined) byName.set(name, i);
    else {
      const path = ["spec", "hosts", i, "name"];
      const first = formatPosition(document.positionOf(["spec", "hosts", before, "name"]));
      const message = `is used twice, first at ${first}`;
      problems.push({
        ...document.positionOf(path),
        path: formatPath(path),
        message,
        value: showValue(name),
      });
    }
  }
  const context: Context = {
    folder: dirname(file),
    spec,
    byName,
    placeOf: document.positionOf,
    problems,
  };
  const hosts = spec.hosts.map((_, i) => hostOf(i, context));
  if (problems.length > 0) return { inventory: undefined, problems };
  return {
    inventory: {
      name: metadata.name,
      file,
      format: "escapement",
      ...(spec.cluster !== undefined && { cluster: spec.cluster }),
      settings: settingsOf(spec.settings, context.folder),
      hosts,
      notes: [],
    },
    problems: [],
  };
}

function hostOf(index: number, context: Context): InventoryHost {
  const { spec, folder, placeOf } = context;
  const host = spec.hosts[index]!;
  return {
    ...placeOf(["spec", "hosts", index]),
    name: host.name,
    ...(host.profile !== undefined && { profile: host.profile }),
    failureDomain: host.failureDomain ?? host.name,
    settings: settingsOf({ ...spec.settings, ...host.settings }, folder),
    settingPlace(name) {
      if (Object.hasOwn(host.settings, name))
        return placeOf(["spec", "hosts", index, "settings", name], "key");
      if (Object.hasOwn(spec.settings, name)) return placeOf(["spec", "settings", name], "key");
      return undefined;
    },
    target: { ...targetOf(host, context), jump: jumpsOf(index, context, [index]) },
  };
}

/** How a host is reached once the way to it is open. */
function targetOf(host: HostSpec, { spec: { defaults }, folder }: Context): HostTarget {
  const user = host.user ?? defaults.user;
  const port = host.port ?? defaults.port;
  const identity = host.identityFile ?? defaults.identityFile;
  const sudoPassword = host.sudoPasswordFile ?? defaults.sudoPasswordFile;
  const defaulted = [
    ...(user === undefined ? (["user"] as const) : []),
    ...(port === undefined ? (["port"] as const) : []),
    ...(host.jump === undefined ? (["jump"] as const) : []),
  ];
  return {
    host: host.name,
    address: host.address,
    port: port ?? 22,
    user: user ?? userName(),
    identityFiles: identity === undefined ? [] : [localPath(identity, folder)],
    knownHostsFiles:
      defaults.knownHostsFile === undefined ? [] : [localPath(defaults.knownHostsFile, folder)],
    jump: [],
    ...(sudoPassword !== undefined && { sudoPasswordFile: localPath(sudoPassword, folder) }),
    connectTimeoutMs: defaults.connectTimeout,
    ...(host.connection === "local" && { connection: "local" as const }),
    ...(defaulted.length > 0 && { defaulted }),
  };
}

/**
 * The whole way to a host, the nearest first. Only the first hop's own way is
 * followed: the later ones are reached from the hop before, as ssh does it.
 * @param seen indexes of the hosts whose ways led here, against circles
 */
function jumpsOf(index: number, context: Context, seen: readonly number[]): HostTarget[] {
  const { spec, byName, placeOf, problems } = context;
  const hops: HostTarget[] = [];
  for (const [i, hop] of (spec.hosts[index]!.jump ?? []).entries()) {
    const path = ["spec", "hosts", index, "jump", i];
    const complain = (message: string, suggestion?: string) => {
      // A circle is met once for every host on it; each place is told once.
      const place = placeOf(path);
      if (problems.some(({ line, column }) => line === place.line && column === place.column)) return;
      const value = showValue(hop);
      problems.push({
        ...place,
        path: formatPath(path),
        message,
        value,
        ...(suggestion !== undefined && { suggestion }),
      });
    };
    const known = byName.get(hop);
    if (known !== undefined) {
      if (seen.includes(known)) complain("leads in a circle");
      else {
        if (i === 0) hops.push(...jumpsOf(known, context, [...seen, known]));
        hops.push(targetOf(spec.hosts[known]!, context));
      }
      continue;
    }
    const address = /[@:]/.test(hop) ? parseHostAddress(hop) : undefined;
    if (address) hops.push(targetOf({ ...unnamed, name: address.address, ...address }, context));
    else
      complain("is neither a host of this inventory nor user@address:port", closest(hop, [...byName.keys()]));
  }
  return hops;
}

const unnamed = { connection: "ssh", settings: {}, jump: [] } satisfies Partial<HostSpec>;

function settingsOf(written: Readonly<Record<string, SettingValue>>, folder: string): Settings {
  const entries = Object.entries(written).map(([name, value]) => [
    name,
    name.endsWith("File") && typeof value === "string" && value !== "" ? localPath(value, folder) : value,
  ]);
  return Object.fromEntries(entries) as Settings;
}

/** `~/x` from the home folder, everything else from the folder of the inventory. */
export function localPath(path: string, folder: string): string {
  if (path === "~" || path.startsWith("~/")) return join(homedir(), path.slice(1));
  return isAbsolute(path) ? path : resolve(folder, path);
}
