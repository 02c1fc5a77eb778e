/** `escapement deploy`: brings this toolkit to hosts, or takes a host back to the version before. */
import type { Command } from "commander";
import { formatBytes } from "../base/bytes.ts";
import { EscapementError } from "../base/errors.ts";
import { ExitCode } from "../base/exit-code.ts";
import type { Deployed } from "../provision/deploy/deploy.ts";
import type { HostResult } from "../remote/fleet.ts";
import { defineCommand } from "./command.ts";
import { connectionFor, type ReachOptions, withReachOptions } from "./hosts/reach-options.ts";
import {
  chooseHosts,
  type InventoryOptions,
  requireInventory,
  withInventoryOption,
} from "./inventory-file.ts";
import { paint, print, printJson, say, table } from "./terminal.ts";

interface DeployOptions extends InventoryOptions, ReachOptions {
  readonly rollback?: boolean;
  readonly keep: string;
  readonly json?: boolean;
}

export function build(): Command {
  const command = defineCommand(
    "deploy",
    "bring this toolkit to hosts, or take hosts back to the version before",
    {
      examples: [
        "escapement deploy -i inventory.yaml",
        "escapement deploy sched-1 --json",
        "escapement deploy --rollback sched-1",
      ],
      exitCodes: [
        ExitCode.ok,
        ExitCode.failed,
        ExitCode.partial,
        ExitCode.refused,
        ExitCode.badData,
        ExitCode.unavailable,
        ExitCode.interrupted,
      ],
      notes:
        "Uploads one bundled file and a Node binary to /opt/escapement/versions, lets the host check their sums, and\nswitches one link. Nothing is restarted: escapement playbook run upgrade does that, one host at a time.",
    },
  )
    .argument("[host...]", "only these; needed with --rollback")
    .option("--rollback", "go back to the version before")
    .option("--keep <n>", "how many versions a host keeps", "3")
    .option("--json", "print one JSON document");
  return withReachOptions(withInventoryOption(command)).action(run);
}

async function run(names: string[], options: DeployOptions): Promise<void> {
  const keepVersions = Number(options.keep);
  if (!Number.isInteger(keepVersions) || keepVersions < 2)
    throw new EscapementError("E_BAD_VALUE", {
      option: "--keep",
      value: options.keep,
      expected: "a whole number of 2 or more",
      hint: "the version before is what a rollback goes back to",
    });
  if (options.rollback && names.length === 0)
    throw new EscapementError("E_USAGE", { what: "--rollback needs the names of hosts" });
  const inventory = await requireInventory(options);
  const { fleetExitCode, runFleet } = await import("../remote/fleet.ts");
  const { deploy, rollbackDeployment } = await import("../provision/deploy/deploy.ts");
  const { ownRelease } = await import("./deploy/own-release.ts");
  const targets = chooseHosts(inventory, names).map(({ target }) => target);
  const { connect, concurrency, signal } = await connectionFor({ forks: 8, ...options });
  const release = options.rollback ? undefined : await ownRelease();
  if (release) say(`release ${release.version} for ${release.machine}, ${targets.length} host(s)`);
  const results = await runFleet<Deployed>({
    targets,
    connect,
    concurrency,
    signal,
    work: async (remote, _, stop) =>
      release
        ? deploy(remote, release, { keepVersions, signal: stop })
        : { changed: true, uploadedBytes: 0, durationMs: 0, ...(await rollbackDeployment(remote)) },
    onResult: (result, done, all) => say(`${done}/${all} ${result.host}: ${wordsOf(result)}`),
  });
  process.exitCode = fleetExitCode(results);
  if (options.json) {
    printJson({ release: release?.version ?? null, hosts: results });
    return;
  }
  print(
    table(
      ["host", "state", "version", ""],
      results.map((result) =>
        result.status === "ok"
          ? [
              result.host,
              paint.green(result.value.changed ? "changed" : "ok"),
              result.value.version,
              wordsOf(result),
            ]
          : [result.host, paint.red(result.status), "-", `${result.message}; ${result.hint}`],
      ),
    ),
  );
}

function wordsOf(result: HostResult<Deployed>): string {
  if (result.status !== "ok") return `${result.status}: ${result.message}`;
  const { changed, uploadedBytes, previous } = result.value;
  if (!changed) return "was there";
  const before = previous ? `; before: ${previous}` : "";
  return `${formatBytes(uploadedBytes)} uploaded in ${Math.round(result.durationMs / 100) / 10} s${before}`;
}
