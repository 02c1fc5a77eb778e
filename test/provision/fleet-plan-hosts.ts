/**
 * Hundreds of hosts in memory that answer bundles as a host with the wanted
 * state would, at the other end of a slow line. What one host says differently
 * is its drift.
 */
import { createHash } from "node:crypto";
import { protocolVersion } from "../../src/provision/bundle/frame.ts";
import { hostPaths, sysctlFile } from "../../src/provision/bundle/probe.ts";
import { sha256 } from "../../src/provision/plan/kinds/placed-file.ts";
import type { Resource } from "../../src/provision/resource.ts";
import { FakeHost, type FakeHostOptions } from "../../src/remote/fake-remote.ts";
import type { ExecRequest, RemoteTarget } from "../../src/remote/remote.ts";

/** Of every simulated host; facts that were gathered in this boot serve again. */
export const bootId = "6b1f3d52-0000-4000-8000-000000000000";

const paths = hostPaths();

/** `node-1` to `node-COUNT`. */
export function namesOf(count: number): string[] {
  return Array.from({ length: count }, (_, i) => `node-${i + 1}`);
}

/** A profile of 300 resources: 200 files, 10 packages, 40 units, 40 kernel settings, 10 groups. */
export function bulkProfile(name = "bulk"): string {
  const numbers = (count: number) => Array.from({ length: count }, (_, i) => i);
  const resources = [
    ...numbers(200).map((i) => ({
      kind: "file",
      path: `/etc/bulk/file-${i}.conf`,
      content: `# file ${i}\n`.repeat(40),
    })),
    ...numbers(10).map((i) => ({ kind: "package", name: `bulk-${i}` })),
    ...numbers(40).map((i) => ({ kind: "unit", name: `bulk-${i}.service`, enabled: true, running: true })),
    ...numbers(40).map((i) => ({ kind: "sysctl", key: `net.bulk.key_${i}`, value: String(i) })),
    ...numbers(10).map((i) => ({ kind: "group", name: `bulk-${i}`, system: true })),
  ];
  return [
    "apiVersion: escapement/v1",
    "kind: HostProfile",
    `metadata: { name: ${name} }`,
    `spec: ${JSON.stringify({ description: "Many small things.", resources })}`,
  ].join("\n");
}

export interface SimulatedHost extends Omit<FakeHostOptions, "answer"> {
  /** What it has. */
  readonly resources: () => readonly Resource[];
  /** Files with another content than the wanted one, by path. */
  readonly drift?: Readonly<Record<string, string>>;
  /** What its gather script prints, with the nonce `@NONCE@`. */
  readonly gathered: string;
}

/** A host that answers bundles that look, and nothing else. */
export function simulatedHost({ resources, drift = {}, gathered, ...options }: SimulatedHost): FakeHost {
  return new FakeHost({
    ...options,
    answer: ({ argv, stdin }: ExecRequest) => {
      const script = typeof stdin === "string" ? stdin : "";
      if (argv.join(" ") !== "sh -s") return undefined;
      const gather = /^n=(\w+)$/m.exec(script)?.[1];
      if (gather !== undefined) return { stdout: gathered.replaceAll("@NONCE@", gather) };
      const nonce = /^ESC_NONCE='?([\w-]+)/m.exec(script)?.[1];
      return nonce === undefined ? undefined : { stdout: framed(factsOf(resources(), drift), nonce) };
    },
  });
}

export function targetsOf(names: readonly string[]): RemoteTarget[] {
  return names.map((host) => ({
    host,
    address: host,
    port: 22,
    user: "root",
    identityFiles: [],
    knownHostsFiles: [],
    jump: [],
    connectTimeoutMs: 5_000,
  }));
}

/** What read.sh prints on a host that has these resources. */
function factsOf(resources: readonly Resource[], drift: Readonly<Record<string, string>>): string[] {
  const lines: string[] = [];
  const place = (path: string, wanted: string, mode: number) => {
    const content = drift[path] ?? wanted;
    lines.push(`path\t${path}\tregular file\t${mode.toString(8)}\troot\troot\t'${path}'\t~\t1700000000`);
    lines.push(`sum\t${path}\t${sha256(content)}`);
    if (content !== wanted) lines.push(`content\t${path}\t${Buffer.from(content).toString("base64")}`);
  };
  for (const resource of resources)
    switch (resource.kind) {
      case "file":
        place(resource.path, resource.content, resource.mode);
        break;
      case "package":
        lines.push(`package\t${resource.name}\tinstalled\t1.0-1`);
        break;
      case "unit": {
        const { name, enabled, running } = resource;
        lines.push(
          `unit\tId=${name}\tNames=${name}\tLoadState=loaded\tActiveState=${running ? "active" : "inactive"}\tUnitFileState=${enabled ? "enabled" : "disabled"}\tActiveEnterTimestampMonotonic=9000000`,
        );
        break;
      }
      case "sysctl": {
        const { key, value } = resource;
        place(`/etc/sysctl.d/90-escapement-${key}.conf`, `${key} = ${value}\n`, 0o644);
        lines.push(`sysctl\t${sysctlFile(key, paths)}\t${value}`);
        break;
      }
      case "group":
        lines.push(`group\t${resource.name}:x:500:`);
        break;
      default:
        throw new Error(`a simulated host has no ${resource.kind}`);
    }
  lines.push(`host\t${bootId}\t~\t86400.10\t${(Date.now() / 1000).toFixed(3)}`);
  for (const section of ["path", "sum", "package", "unit", "group", "sysctl", "state"])
    lines.push(`end\t${section}\t0`);
  return lines;
}

function framed(facts: readonly string[], nonce: string): string {
  const body = `${facts.map((fact) => JSON.stringify({ fact })).join("\n")}\n`;
  const sum = createHash("sha256").update(body).digest("hex");
  return `\n${nonce} begin ${protocolVersion}\n${body}${nonce} end ${facts.length} ${sum}\n`;
}
