/** `escapement lab up`: a small cluster of machines, bare, within seconds. */
import type { Command } from "commander";
import { EscapementError } from "../../base/errors.ts";
import { ExitCode } from "../../base/exit-code.ts";
import { monotonicMs } from "../../base/monotonic.ts";
import type { WantedHost } from "../../lab/hosts/default-hosts.ts";
import { defineCommand } from "../command.ts";
import { print, printJson, say, table } from "../terminal.ts";
import { type LabChoice, withLabName } from "./which-lab.ts";

interface UpOptions extends LabChoice {
  readonly hosts: readonly string[];
  readonly tier: string;
  readonly virtual?: readonly string[];
  readonly prepared?: boolean;
  readonly output: string;
  readonly json?: boolean;
}

export function buildUp(): Command {
  const command = defineCommand("up", "put up a lab and write its inventory and keys into a folder", {
    examples: [
      "escapement lab up",
      "escapement lab up --name two --hosts sched-1 exec-1 -o two",
      "escapement lab up --hosts 3 --json",
      "escapement lab up --virtual exec-1",
      "escapement lab up --tier process --name small -o small",
    ],
    exitCodes: [ExitCode.ok, ExitCode.refused, ExitCode.unavailable, ExitCode.interrupted],
    notes:
      "Machines need Linux and root, a lab of processes only Node and PostgreSQL. The first lab of a machine makes the root file system and the package source,\nwhich takes minutes; they are kept in ~/.cache/escapement/lab.",
  });
  return withLabName(command)
    .option("--hosts <number or names...>", "how many, or their names", ["6"])
    .option("--tier <tier>", "hosts, process or vm", "hosts")
    .option("--virtual <names...>", "which hosts are virtual machines, beside the others (vm: all)")
    .option("--prepared", "virtual machines have the packages of the shipped profiles already, switched off")
    .option("-o, --output <folder>", "where inventory.yaml, known_hosts and id_ed25519 go", "escapement-lab")
    .option("--json", "print one JSON document")
    .action(async (options: UpOptions, command: Command) => {
      checkTier(options, command.getOptionValueSource("hosts") === "cli");
      if (options.tier === "process") return upProcesses(options);
      const { HostLab } = await import("../../lab/hosts/host-lab.ts");
      const { countedHosts, namedHosts } = await import("../../lab/hosts/default-hosts.ts");
      const [first = ""] = options.hosts;
      const counted = options.hosts.length === 1 && /^\d+$/.test(first);
      const started = monotonicMs();
      const stop = stopOnSignal();
      const lab = await HostLab.up({
        name: options.name,
        hosts: withMachines(counted ? countedHosts(Number(first)) : namedHosts(options.hosts), options),
        folder: options.output,
        prepared: options.prepared ?? false,
        say,
        signal: stop,
      });
      const elapsedMs = Math.round(monotonicMs() - started);
      const { inventoryFile } = lab;
      if (options.json) return printJson({ name: lab.name, inventoryFile, elapsedMs, hosts: lab.hosts });
      const rows = lab.hosts.map((host) => [host.name, host.address, host.profile, host.failureDomain]);
      print(table(["host", "address", "profile", "failure domain"], rows));
      print(`\nlab ${lab.name} is up after ${(elapsedMs / 1_000).toFixed(1)} s; inventory: ${inventoryFile}`);
    });
}

/** Which of the hosts are virtual machines. @throws E_BAD_VALUE for a name that is no host of the lab */
function withMachines(hosts: readonly WantedHost[], options: UpOptions): WantedHost[] {
  for (const name of options.virtual ?? []) {
    if (hosts.some((host) => host.name === name)) continue;
    throw new EscapementError("E_BAD_VALUE", {
      option: "--virtual",
      value: name,
      expected: "a host of the lab",
      hint: `the hosts are ${hosts.map((host) => host.name).join(", ")}`,
    });
  }
  const virtual = (name: string) => options.tier === "vm" || options.virtual?.includes(name);
  return hosts.map((host) => (virtual(host.name) ? { ...host, machine: "virtual" } : host));
}

async function upProcesses(options: UpOptions): Promise<void> {
  const { ProcessLab } = await import("../../lab/processes/process-lab.ts");
  const started = monotonicMs();
  const lab = await ProcessLab.up({
    name: options.name,
    folder: options.output,
    say,
    signal: stopOnSignal(),
  });
  const { clusterFile, hosts } = await ProcessLab.overview(lab.name);
  const elapsedMs = Math.round(monotonicMs() - started);
  if (options.json) return printJson({ name: lab.name, tier: "process", clusterFile, elapsedMs, hosts });
  print(
    table(
      ["process", "address", "role"],
      hosts.map((host) => [host.name, host.address, host.profile]),
    ),
  );
  print(`\nlab ${lab.name} is up after ${(elapsedMs / 1_000).toFixed(1)} s; cluster: ${clusterFile}`);
}

/** @throws E_BAD_VALUE for a tier that there is not, E_LAB_TIER for options that a tier has no use for */
function checkTier({ tier, virtual, prepared }: UpOptions, hostsChosen: boolean): void {
  if (prepared && tier !== "vm" && !virtual) {
    throw new EscapementError("E_LAB_TIER", {
      tier,
      reason: "--prepared is about virtual machines, and this lab has none",
      hint: "leave the option out, or use --tier vm or --virtual",
    });
  }
  if (tier === "process" && (hostsChosen || virtual)) {
    throw new EscapementError("E_LAB_TIER", {
      tier,
      reason: `${virtual ? "--virtual" : "--hosts"} names machines, and it has one store, two schedulers and three executors`,
      hint: "leave the option out, or use --tier hosts",
    });
  }
  if (["hosts", "vm", "process"].includes(tier)) return;
  throw new EscapementError("E_BAD_VALUE", {
    option: "--tier",
    value: tier,
    expected: "a tier of the lab",
    hint: "write hosts, process or vm",
  });
}

/** Ctrl-C ends `up` after the step it is in, with nothing left. */
function stopOnSignal(): AbortSignal {
  const stop = new AbortController();
  for (const name of ["SIGINT", "SIGTERM"] as const) {
    process.once(name, () => {
      say("stopping; what was made is taken away");
      stop.abort(new EscapementError("E_INTERRUPTED", { signal: name }));
    });
  }
  return stop.signal;
}
