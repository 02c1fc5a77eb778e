/** A small site on the hosts of a lab, whose inventory can be bent: who is troubled, and who must not notice. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { HostLab } from "../../../src/lab/hosts/host-lab.ts";
import type { HostOutcome } from "../../../src/provision/apply/outcome.ts";
import { type FinishedProcess, runEscapement } from "../../support/processes.ts";
import { shell } from "../provision/lab-targets.ts";

export interface Site {
  readonly lab: HostLab;
  /** Every host of it is in one failure domain, so that all are changed at once. */
  readonly folder: string;
}

export interface Bend {
  /** Fields of a host in place of the usual ones. */
  readonly hosts?: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** The key that known_hosts has for a host is another one. */
  readonly wrongKeyOf?: string;
  /** Further resources of the profile. */
  readonly resources?: readonly Readonly<Record<string, unknown>>[];
}

/** The file that every revision of the profile changes, and the service that reads it. */
export const appFile = "/etc/trouble/app.conf";
/** A host that has it takes a minute for the next start of the service, and says so in `middleFile`. */
export const slowFile = "/etc/slow";
export const middleFile = "/run/trouble-middle";

const unitText = `[Unit]
Description=What the profile of this test runs
[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=/bin/sh -c '[ ! -e ${slowFile} ] || { rm ${slowFile}; touch ${middleFile}; sleep 60; }'
[Install]
WantedBy=multi-user.target
`;

/** Another key of the same type, as after a host was replaced. */
const otherKey = "AAAAC3NzaC1lZDI1NTE5AAAAIJeWdRxM8bWDHTRdUMlWFG0PZ/7OdECQ8dqmQ0DIMdOH";

function writeSite(
  { lab, folder }: Site,
  revision: number,
  bend: Bend,
): { inventory: string; profile: string } {
  mkdirSync(folder, { recursive: true });
  const address = (name: string) => lab.hosts.find((host) => host.name === name)!.address;
  const known = readFileSync(lab.knownHostsFile, "utf8")
    .split("\n")
    .map((line) => {
      const [names = "", type] = line.split(" ");
      const isBent = bend.wrongKeyOf !== undefined && names.split(",").includes(address(bend.wrongKeyOf));
      return isBent ? `${names} ${type} ${otherKey}` : line;
    });
  writeFileSync(join(folder, "known_hosts"), known.join("\n"));
  const hosts = lab.hosts.map(({ name, address }) => ({
    name,
    address,
    profile: "trouble",
    failureDomain: "all",
    ...bend.hosts?.[name],
  }));
  const defaults = {
    user: "root",
    identityFile: lab.identityFile,
    knownHostsFile: "known_hosts",
    connectTimeout: "4s",
  };
  const resources = [
    { kind: "directory", path: "/etc/trouble" },
    {
      kind: "file",
      path: appFile,
      content: `revision ${revision}\n`,
      after: ["directory:/etc/trouble"],
      restarts: [{ unit: "trouble.service", action: "restart" }],
    },
    { kind: "file", path: "/etc/systemd/system/trouble.service", content: unitText },
    {
      kind: "unit",
      name: "trouble.service",
      enabled: true,
      running: true,
      after: ["file:/etc/systemd/system/trouble.service"],
    },
    ...(bend.resources ?? []),
  ];
  const write = (kind: string, name: string, spec: unknown) => {
    const file = join(folder, `${name}.yaml`);
    const text = `apiVersion: escapement/v1\nkind: ${kind}\nmetadata: { name: ${name} }\nspec: ${JSON.stringify(spec)}\n`;
    writeFileSync(file, text);
    return file;
  };
  return {
    inventory: write("Inventory", "site", { defaults, hosts }),
    profile: write("HostProfile", "trouble", { description: "One service and its file.", resources }),
  };
}

/** Runs a command that plans hosts; facts are kept in the site's own folder. */
export function escapement(
  site: Site,
  revision: number,
  words: readonly string[],
  bend: Bend = {},
): Promise<FinishedProcess> {
  const { inventory, profile } = writeSite(site, revision, bend);
  return runEscapement([...words, "-i", inventory, "--profiles", profile], {
    environment: { XDG_CACHE_HOME: join(site.folder, "cache"), SSH_AUTH_SOCK: undefined },
  });
}

export interface Applied {
  readonly code: number | null;
  /** By host. */
  readonly outcomes: Readonly<Record<string, HostOutcome>>;
}

export async function applyRevision(site: Site, revision: number, bend: Bend = {}): Promise<Applied> {
  const words = ["apply", "--yes", "--keep-going", "--json", "--confirm-timeout", "10s"];
  const { code, stdout, stderr } = await escapement(site, revision, words, bend);
  if (!stdout.startsWith("{")) throw new Error(`apply ended with ${code}: ${stderr}`);
  const { hosts } = JSON.parse(stdout) as { hosts: readonly HostOutcome[] };
  return { code, outcomes: Object.fromEntries(hosts.map((one) => [one.host, one])) };
}

/** What stands in the file of a host. */
export function revisionOn({ lab }: Site, host: string): Promise<string> {
  return shell(lab, host, `cat ${appFile}`);
}
