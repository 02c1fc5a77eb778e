/**
 * The same content on the same hosts through Ansible and through us; then large plans.
 *
 *   npm run bench -- provision [rounds] [hosts]     default: 3 rounds, 5 hosts; 0 rounds: only the plans
 *
 * Needs the hosts tier (docs/lab.md), and Debian's package `ansible` for the
 * comparison; without either it says so and measures the rest.
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { cpus, loadavg, release, tmpdir, totalmem } from "node:os";
import { join } from "node:path";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { whyNoHosts } from "../src/lab/hosts/capabilities.ts";
import { countedHosts } from "../src/lab/hosts/default-hosts.ts";
import { HostLab } from "../src/lab/hosts/host-lab.ts";
import { makeBare } from "./provision/bare.ts";
import { counts, drift, writeSite } from "./provision/content.ts";
import { planSimulated } from "./provision/fleet.ts";
import { planMany } from "./provision/many-resources.ts";
import { ansible, ansibleVersion, ours, type Run, type Tool } from "./provision/tools.ts";

const rounds = Number(process.argv[2] ?? 3);
const hostCount = Number(process.argv[3] ?? 5);
const phases = ["first apply", "re-run that looks", "re-run that repairs"] as const;

setFlagsFromString("--expose-gc");
globalThis.gc = runInNewContext("gc");
execFileSync(process.execPath, ["scripts/build.mjs", "--quiet"], { stdio: "inherit" });

const median = (list: readonly number[]) => [...list].sort((a, b) => a - b)[Math.floor(list.length / 2)]!;
const seconds = (value: number) => `${value.toFixed(2)} s`.padStart(9);
const load = () => `load ${loadavg()[0]!.toFixed(1)}`;

console.log(
  `${new Date().toISOString().slice(0, 16)}Z, ${cpus().length} × ${cpus()[0]?.model ?? "?"}, ${(totalmem() / 2 ** 30).toFixed(0)} GiB, Linux ${release()}, Node ${process.versions.node}, ${load()}`,
);

const noHosts = await whyNoHosts();
if (noHosts !== undefined) console.log(`hosts: unknown here (${noHosts})`);
else await onHosts();
await simulated();

async function onHosts(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "escapement-bench-"));
  const lab = await HostLab.up({
    name: `bench-${process.pid}`,
    hosts: countedHosts(hostCount),
    folder: join(folder, "lab"),
    owned: true,
  });
  try {
    if (rounds > 0) await compare(lab, folder);
    await planMany(lab, join(folder, "many"), 10);
  } finally {
    await lab.down();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function compare(lab: HostLab, folder: string): Promise<void> {
  const site = writeSite(lab, join(folder, "site"));
  const version = ansibleVersion();
  const own = ours(site, site.inventory, site.profile);
  const other = version === undefined ? undefined : ansible(lab, site);
  console.log(`\n${hostCount} hosts; ${counts}`);
  if (version === undefined) console.log("Ansible: unknown here (Debian's package ansible is not installed)");
  else
    console.log(
      `ansible-core ${version}: forks ${Math.max(10, hostCount)}, pipelining, ControlPersist, no facts`,
    );
  const took = new Map<string, number[]>();
  const fresh: number[] = [];
  try {
    for (let round = 1; round <= rounds; round++) {
      // The one that was first is second the next time.
      const tools: Tool[] = [...(other ? [other] : []), own];
      if (round % 2 === 0) tools.reverse();
      for (const tool of tools) {
        await makeBare(lab);
        tool.forget();
        const times = await oneRound(tool, lab);
        phases.forEach((phase, i) => {
          const key = `${tool.name} ${phase}`;
          took.set(key, [...(took.get(key) ?? []), times[i]!]);
        });
        if (tool === own) fresh.push(own.look(true).seconds);
        console.log(`round ${round} ${tool.name.padEnd(10)} ${times.map(seconds).join(" ")}   ${load()}`);
      }
    }
  } finally {
    other?.close();
  }
  console.log(
    `\nmedian of ${rounds}`.padEnd(28),
    "Ansible".padStart(10),
    "escapement".padStart(11),
    "ratio".padStart(8),
  );
  for (const phase of phases) {
    const mine = median(took.get(`${own.name} ${phase}`)!);
    const its = took.get(`Ansible ${phase}`);
    console.log(
      phase.padEnd(26),
      its ? seconds(median(its)).padStart(11) : "unknown".padStart(11),
      seconds(mine).padStart(11),
      its ? `${(median(its) / mine).toFixed(1)}×`.padStart(8) : "",
    );
  }
  console.log("with facts gathered anew".padEnd(37), seconds(median(fresh)).padStart(11));
}

/** @returns seconds a phase. @throws where a tool did not do, or did not find, what it should */
async function oneRound(tool: Tool, lab: HostLab): Promise<number[]> {
  const all = lab.hosts.map(({ name }) => name).sort();
  const drifted = lab.hosts[Math.floor(lab.hosts.length / 2)]!.name;
  const first = expected(tool.apply(), all, `${tool.name}, first apply`);
  await lab.exec(drifted, ["sh", "-c", drift.line]);
  const looks = expected(tool.look(), [drifted], `${tool.name}, looking`);
  const repairs = expected(tool.apply(), [drifted], `${tool.name}, repairing`);
  const { stdout } = await lab.exec(drifted, ["grep", "-c", "by-hand", drift.path]);
  if (stdout.trim() !== "0") throw new Error(`${tool.name} left the drift on ${drifted}`);
  return [first, looks, repairs];
}

function expected({ seconds, changed, said }: Run, hosts: readonly string[], what: string): number {
  if ([...changed].sort().join() !== hosts.join())
    throw new Error(
      `${what}: changed ${changed.join(", ") || "nothing"}, not ${hosts.join(", ")}\n${said.slice(0, 8_000)}`,
    );
  return seconds;
}

async function simulated(): Promise<void> {
  console.log("\nsimulated hosts of 300 resources, round trips of 30 ms, all in one process");
  for (const [count, concurrency, withFacts] of [
    [50, 32, false],
    [500, 32, false],
    [500, 100, false],
    [500, 32, true],
    [500, 100, true],
  ] as const) {
    const run = await planSimulated(count, concurrency, withFacts);
    console.log(
      `${String(count).padStart(4)} hosts, ${String(concurrency).padStart(3)} at once, ${withFacts ? "facts known   " : "facts gathered"}  ${seconds(run.seconds)}  cpu ${seconds(run.cpuSeconds)}  heap after ${run.heapMib.toFixed(0)} MiB, rss ${run.rssMib.toFixed(0)} MiB   ${load()}`,
    );
  }
}
