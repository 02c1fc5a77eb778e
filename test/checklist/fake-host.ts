/** A host of the inventory that answers from a table, by the command line that it is asked. */
import type { HostProbe, HostRole } from "../../src/checklist/context.ts";
import { triggerScript } from "../../src/checklist/items/other-triggers.ts";
import type { ExecResult } from "../../src/remote/remote.ts";
import { goodDomains } from "./good-files.ts";

export type Answers = Record<string, string | Error>;

export function keyOf(argv: readonly string[]): string {
  return argv.join(" ");
}

export function fakeHost(name: string, roles: readonly HostRole[], answers: Answers): HostProbe {
  return {
    name,
    roles,
    failureDomain: goodDomains[name] ?? name,
    exec: async (argv): Promise<ExecResult> => {
      const answer = answers[keyOf(argv)];
      if (answer instanceof Error) throw answer;
      if (answer === undefined) return said(127, "", `${argv[0]}: not found`);
      return said(0, answer, "");
    },
  };
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
  };
}
