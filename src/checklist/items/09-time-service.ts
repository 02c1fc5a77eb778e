/** Item 9: one time, one zone, and the zone of every schedule written down. */
import { messageOf } from "../../base/errors.ts";
import { readZones } from "../../store/checklist/clocks.ts";
import type { CheckContext, HostProbe } from "../context.ts";
import type { ChecklistItem, Evidence, Result } from "../item.ts";
import { gatherSections } from "./host-sections.ts";
import { pairs, unwritten } from "./job-files.ts";
import { inParts, merged, openStore } from "./parts.ts";
import { readTimeSections, type TimeService, timeScript } from "./time-service.ts";
import { unlistedHosts } from "./unlisted-hosts.ts";
import {
  clusterScope,
  commandEvidence,
  computed,
  fileEvidence,
  hostScope,
  jobLocation,
  jobScope,
  queryEvidence,
  result,
} from "./verdicts.ts";

export const timeService: ChecklistItem<CheckContext> = {
  number: 9,
  id: "time-service",
  question: "Is NTP on everywhere, is there one time zone, and is the zone of every schedule written down?",
  why: "Two machines that disagree about the time read different data for the same fire. A cron line without a zone means another instant on every machine.",
  how: "On every host: the time daemon runs and is enabled, is synchronised, and reaches three sources. Zones and leap-second policies of all hosts and the database are compared with each other. Every job file has a zone, and the store fires by the same one. A container has no clock of its own: its time service needs a vm.",
  check: async (context) => {
    const looks = await Promise.all(context.hosts.map((host) => lookAt(context, host)));
    const cluster = await inParts(context, {
      "the hosts": async () => noHosts(context),
      "the hosts of the records": () =>
        unlistedHosts(context, new Set(looks.flatMap(({ service }) => service?.hostName ?? []))),
      "zones and leap seconds": () => sameEverywhere(context, looks),
      "the zones of schedules": async () =>
        unwritten(context, ["timeZone"], "write spec.timeZone into the job"),
      "the zones in the store": () => zonesOfJobs(context),
    });
    return merged([...cluster, ...looks.map(({ result: one }) => one)]);
  },
};

interface HostLook {
  readonly host: HostProbe;
  readonly service: TimeService | undefined;
  readonly result: Result;
}

async function lookAt(context: CheckContext, host: HostProbe): Promise<HostLook> {
  const scope = hostScope(host);
  try {
    const gathered = await gatherSections(host, timeScript);
    const service = readTimeSections(gathered.sections);
    const shown = gathered.sections
      .map(({ title, text }) => `${title}: ${text.trim().slice(0, 600)}`)
      .join("\n");
    const evidence = [commandEvidence(context, host, gathered.argv, { ...gathered.said, stdout: shown })];
    return { host, service, result: judge(host, service, evidence) };
  } catch (error) {
    const message = `could not look at the time service: ${messageOf(error)}`;
    return {
      host,
      service: undefined,
      result: result(scope, "unknown", message, [], { todo: "make the host reachable" }),
    };
  }
}

function judge(host: HostProbe, service: TimeService, evidence: readonly Evidence[]): Result {
  const scope = hostScope(host);
  if (host.container !== undefined) {
    const message = `needs-vm: ${host.container} has no clock of its own, so its time service proves nothing`;
    return result(scope, "unknown", message, evidence, { todo: "look on a machine or a vm" });
  }
  const todo = "escapement plan with the profile's time section, then escapement apply";
  if (service.problems.length > 0)
    return result(scope, "fail", service.problems.join("; "), evidence, { todo });
  if (service.unseen.length > 0)
    return result(scope, "unknown", service.unseen.join("; "), evidence, { todo });
  return result(scope, "pass", service.summary, evidence);
}

function noHosts(context: CheckContext): Result[] {
  if (context.hosts.length > 0) return [];
  return [
    result(clusterScope(context), "unknown", "no host was looked at", [], { todo: "name the inventory" }),
  ];
}

/** All of them mean UTC. */
const utc = /^(Etc\/)?(UTC|UCT|GMT|GMT0|GMT\+0|GMT-0|Greenwich|Universal|Zulu)$/;

async function sameEverywhere(context: CheckContext, looks: readonly HostLook[]): Promise<Result[]> {
  const looked = await readZones(openStore(context), context.maxAgeMs.sample);
  const { databaseZone, zoneData, clusterZoneData } = looked.rows[0]!;
  const seen = looks.flatMap(({ host, service }) => (service ? [{ name: host.name, service }] : []));
  const zoned = seen.filter(({ service }) => service.zone !== undefined);
  const zones = groups(
    [["the database", databaseZone], ...zoned.map(({ name, service }) => [name, service.zone] as const)].map(
      ([name, zone]) => [name, utc.test(zone!) ? "UTC" : zone!] as const,
    ),
  );
  const leaps = groups(
    seen.flatMap(({ name, service }) => (service.leap ? [[name, service.leap] as const] : [])),
  );
  const evidence = [
    queryEvidence(context, looked),
    computed(context, "zones and leap-second policies, by host", `${listing(zones)}\n${listing(leaps)}`),
  ];
  const problems: string[] = [];
  if (zones.size > 1) problems.push(`there are ${zones.size} time zones: ${listing(zones)}`);
  if (leaps.size > 1) problems.push(`leap seconds are taken in ${leaps.size} ways: ${listing(leaps)}`);
  const versions = new Set([...zoneData, ...(clusterZoneData ? [clusterZoneData] : [])]);
  if (versions.size > 1) problems.push(`schedulers have time-zone data ${[...versions].join(" and ")}`);
  const scope = clusterScope(context);
  if (zoned.length === 0 && problems.length === 0)
    return [
      result(scope, "unknown", "no host has shown its zone", evidence, { todo: "make the hosts reachable" }),
    ];
  if (problems.length > 0)
    return [
      result(scope, "fail", problems.join("; "), evidence, {
        todo: "give every host the same zone (UTC) and the same chrony.conf",
      }),
    ];
  return [
    result(
      scope,
      "pass",
      `one zone (${[...zones.keys()].join()}) on ${zoned.length} host(s) and in the database`,
      evidence,
    ),
  ];
}

function groups(pairsOf: readonly (readonly [string, string])[]): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const [name, value] of pairsOf) found.set(value, [...(found.get(value) ?? []), name]);
  return found;
}

function listing(found: ReadonlyMap<string, readonly string[]>): string {
  return [...found].map(([value, names]) => `${value} on ${names.join(", ")}`).join("; ");
}

async function zonesOfJobs(context: CheckContext): Promise<Result[]> {
  return (await pairs(context)).pairs.map((pair) => {
    const { job, applied, name } = pair;
    const { timeZone } = job.definition;
    const location = jobLocation(job);
    const evidence = [
      fileEvidence(context, `${job.file}:${job.line}`, `timeZone: ${timeZone}`),
      pair.evidence,
    ];
    const scope = jobScope(job);
    const todo = "escapement jobs apply";
    if (!applied)
      return result(scope, "unknown", `${name} is in a file and not in the store`, evidence, {
        todo,
        location,
      });
    if (applied.timeZone !== timeZone)
      return result(
        scope,
        "fail",
        `the store fires by ${applied.timeZone}, the file says ${timeZone}`,
        evidence,
        { todo, location },
      );
    return result(scope, "pass", `its schedule follows ${timeZone}, in the file and in the store`, evidence, {
      location,
    });
  });
}
