/** A host of the inventory that answers from a table, by the command line that it is asked. */
import type { HostProbe, HostRole } from "../../src/checklist/context.ts";
import { clockCommand } from "../../src/checklist/items/host-clock.ts";
import { triggerScript } from "../../src/checklist/items/other-triggers.ts";
import { timeScript } from "../../src/checklist/items/time-service.ts";
import { metricsScript } from "../../src/checklist/items/watchman-heartbeat.ts";
import { talk } from "../../src/remote/fake-shell.ts";
import type { Dialogue, ExecResult } from "../../src/remote/remote.ts";
import { goodDomains, goodWatch } from "./good-files.ts";

/** To a dialogue it is what the host says to each line, after the line itself. */
export type Answers = Record<string, string | Error | (() => string | Promise<string>)>;

export function keyOf(argv: readonly string[]): string {
  return argv.join(" ");
}

export function fakeHost(name: string, roles: readonly HostRole[], answers: Answers): HostProbe {
  return {
    name,
    roles,
    failureDomain: goodDomains[name] ?? name,
    exec: async (argv, { dialogue }): Promise<ExecResult> => {
      const answer = answers[keyOf(argv)];
      if (answer instanceof Error) throw answer;
      if (answer === undefined) return said(127, "", `${argv[0]}: not found`);
      const say = async () => (typeof answer === "function" ? await answer() : answer);
      return said(0, dialogue ? await inLines(dialogue, say) : await say(), "");
    },
  };
}

async function inLines(dialogue: Dialogue, say: () => Promise<string>): Promise<string> {
  const reply = async (line: string) => `${line.trimEnd()} ${await say()}`;
  const heard = await talk(dialogue, { reply }, async () => {});
  if (heard === undefined) throw new Error("the time was up");
  return heard;
}

function said(exitCode: number, stdout: string, stderr: string): ExecResult {
  return { exitCode, stdout, stderr, truncated: false, durationMs: 1 };
}

/** The answer to a script of sections. */
export function sectionText(sections: Readonly<Record<string, string>>): string {
  const body = Object.entries(sections).map(([title, text]) => `\u001e${title}\n${text}\n`);
  return `${body.join("")}\u001eend\n`;
}

/** What a host says that fires nothing of ours. */
export function quietTriggers(
  name: string,
  change: Readonly<Record<string, string>> = {},
): Record<string, string> {
  return {
    hostname: name,
    "crontab /etc/crontab": "SHELL=/bin/sh\n17 * * * * root cd / && run-parts --report /etc/cron.hourly",
    timers: "Id=logrotate.timer\nUnit=logrotate.service\nActiveState=active\n",
    services:
      "Id=logrotate.service\nExecStart={ path=/usr/sbin/logrotate ; argv[]=/usr/sbin/logrotate /etc/logrotate.conf }\n",
    processes: "1 /sbin/init\n",
    ...change,
  };
}

const rolesOf: Readonly<Record<string, readonly HostRole[]>> = {
  "db-1": ["record-store"],
  "sched-1": ["scheduler"],
  "sched-2": ["scheduler"],
  "exec-1": ["executor"],
  "exec-2": ["executor"],
  "watch-1": ["watchman"],
};

/** The hosts of the good inventory; `change` lays answers over those of one host. */
export function goodHosts(change: Readonly<Record<string, Answers>> = {}): HostProbe[] {
  return Object.keys(goodDomains).map((name) =>
    fakeHost(name, rolesOf[name] ?? [], { ...goodAnswers(name), ...change[name] }),
  );
}

export function goodAnswers(name: string): Answers {
  const processes: Record<string, string> = {
    "sched-1":
      "4001 /opt/escapement/current/node /opt/escapement/current/escapement.mjs scheduler --cluster /etc/escapement/cluster.yaml --node scheduler-1",
    "sched-2":
      "4002 /opt/escapement/current/node /opt/escapement/current/escapement.mjs scheduler --cluster /etc/escapement/cluster.yaml --node scheduler-2",
  };
  return {
    [keyOf(triggerScript)]: sectionText(
      quietTriggers(name, { processes: `1 /sbin/init\n${processes[name] ?? ""}` }),
    ),
    [keyOf(timeScript)]: sectionText(goodTime()),
    [keyOf(clockCommand)]: () => clockText(0),
    ...(name === "watch-1" && { [metricsKey]: sectionText({ metrics: heartbeatMetric(20) }) }),
  };
}

/** The time of a clock that is off by so much. */
export function clockText(offsetMs: number): string {
  return `${((Date.now() + offsetMs) / 1_000).toFixed(9)}\n`;
}

export const metricsKey = keyOf(metricsScript(goodWatch.http.port));

export function heartbeatMetric(seconds: number): string {
  return `# HELP escapement_watchman_heartbeat_seconds Seconds since.\nescapement_watchman_heartbeat_seconds ${seconds}\n`;
}

const source = (state: string, n: number, reach = 377) =>
  `^,${state},192.0.2.${n},2,6,${reach},20,0.000012,0.000012,0.000200`;

/** chrony on Debian, synchronised, with four sources. */
export function goodTime(change: Readonly<Record<string, string>> = {}): Record<string, string> {
  return {
    units: `Id=chrony.service
Names=chrony.service chronyd.service
LoadState=loaded
ActiveState=active
UnitFileState=enabled

Id=chrony.service
Names=chrony.service chronyd.service
LoadState=loaded
ActiveState=active
UnitFileState=enabled

Id=ntp.service
Names=ntp.service
LoadState=not-found
ActiveState=inactive
UnitFileState=
`,
    tracking:
      "C0000201,192.0.2.1,3,1790000000.123456789,0.000012,0.000010,0.000020,-1.234,0.001,0.010,0.001,0.001,64.2,Normal\n",
    sources: `${["*", "+", "+", "-"].map((state, i) => source(state, i + 1)).join("\n")}\n`,
    timedatectl: "Timezone=Etc/UTC\nLocalRTC=no\nCanNTP=yes\nNTP=yes\nNTPSynchronized=yes\n",
    conf: "pool ntp.example iburst\nmakestep 1 3\nleapsectz right/UTC\nleapsecmode slew\n",
    zone: "/usr/share/zoneinfo/Etc/UTC\n",
    ...change,
  };
}

export function unreachable(n: number): string {
  return source("?", n, 0);
}
