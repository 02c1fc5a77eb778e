/** Runs the toolkit's own commands on a host, and reads what they answer. */
import { EscapementError } from "../../base/errors.ts";
import type { HostWorld } from "./host-world.ts";
import type { PlaybookHost } from "./registry.ts";

/** One JSON document, and how the command ended. */
export interface ToolkitAnswer {
  readonly exitCode: number;
  readonly json: unknown;
  /** What a failed command said. */
  readonly error: { readonly code: string; readonly message: string } | undefined;
}

/** As the host's own login of the store, from the file that the daemons read. */
const asHost = `cd /
if [ -r /etc/escapement/store-url ]; then ESCAPEMENT_STORE_URL=$(cat /etc/escapement/store-url); export ESCAPEMENT_STORE_URL; fi
exec /usr/local/bin/escapement "$@"`;

/** On the store's own host, as its owner, over the socket: no password. */
const asOwner = `cd /
ESCAPEMENT_STORE_URL='postgresql:///escapement?host=/var/run/postgresql' exec runuser -u postgres -- /usr/local/bin/escapement "$@"`;

export interface ToolkitOptions {
  readonly as?: "host" | "owner";
  readonly deadlineMs?: number;
  readonly looks?: boolean;
}

/** @param args without `--json` */
export async function toolkit(
  world: HostWorld,
  host: string,
  args: readonly string[],
  { as = "host", ...options }: ToolkitOptions = {},
): Promise<ToolkitAnswer> {
  const result = await world.run(
    host,
    ["sh", "-c", as === "owner" ? asOwner : asHost, "escapement", ...args, "--json"],
    options,
  );
  const json = parseJson(result.stdout);
  const error = (parseJson(result.stderr) as { error?: ToolkitAnswer["error"] } | undefined)?.error;
  if (result.exitCode === null || (json === undefined && error === undefined))
    throw new EscapementError("E_UNKNOWN", {
      what: `${host}: escapement ${args[0] ?? ""} gave no answer: ${whyNot(result.stderr) || `exit ${result.exitCode}`}`,
      hint: "is the toolkit deployed there? escapement deploy",
    });
  return { exitCode: result.exitCode, json, error };
}

/** The shell's own words about a host that has nothing yet say less than this. */
function whyNot(stderr: string): string {
  const line = lastLine(stderr);
  if (line.includes("/usr/local/bin/escapement: not found")) return "it has no toolkit yet";
  if (line.includes("user postgres does not exist")) return "it has no PostgreSQL yet";
  return line;
}

/** The same, where any failure is an error. @throws E_REFUSED with the command's own words */
export async function toolkitDone(
  world: HostWorld,
  host: string,
  args: readonly string[],
  options: ToolkitOptions = {},
): Promise<unknown> {
  const answer = await toolkit(world, host, args, options);
  if (answer.exitCode === 0) return answer.json;
  throw new EscapementError("E_REFUSED", {
    what: `${host}: escapement ${args.slice(0, 2).join(" ")}: ${answer.error?.message ?? `exit ${answer.exitCode}`}`,
    hint: "mend it and run the playbook again; it goes on at this step",
  });
}

/** The host of the record store. @throws E_REFUSED where the inventory has none */
export function storeHost(world: HostWorld): PlaybookHost {
  const found = world.hosts.find((host) => host.roles.includes("record-store"));
  if (found) return found;
  throw new EscapementError("E_REFUSED", {
    what: "the inventory has no host with the profile record-store",
    hint: "with a database of your own, make its logins by hand (docs/store.md) and put the URLs into /etc/escapement/store-url",
  });
}

/** Asks the store through the first scheduler that answers; one that was silent a moment ago is asked last. */
export async function askStore(
  world: HostWorld,
  args: readonly string[],
  options: ToolkitOptions = {},
): Promise<ToolkitAnswer> {
  const schedulers = world.hosts.filter((host) => host.roles.includes("scheduler"));
  const order = [
    ...schedulers.filter((host) => !world.isSilent(host.name)),
    ...schedulers.filter((host) => world.isSilent(host.name)),
  ];
  let last: unknown;
  for (const host of order) {
    try {
      const answer = await toolkit(world, host.name, args, options);
      if (answer.error?.code !== "E_STORE_UNAVAILABLE" && answer.error?.code !== "E_STORE_URL_MISSING")
        return answer;
      last = new EscapementError("E_UNKNOWN", {
        what: `${host.name}: ${answer.error.message}`,
        hint: "look at that host",
      });
    } catch (error) {
      last = error;
    }
  }
  throw (
    last ??
    new EscapementError("E_UNKNOWN", {
      what: "no scheduler to ask the store through",
      hint: "name one in the inventory",
    })
  );
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    const start = text.indexOf("{");
    if (start < 0) return undefined;
    try {
      return JSON.parse(text.slice(start));
    } catch {
      return undefined;
    }
  }
}

function lastLine(text: string): string {
  return text.trim().split("\n").at(-1)?.slice(0, 300) ?? "";
}
