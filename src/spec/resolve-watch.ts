/** A watch document becomes a definition: names with units, paths absolute, references checked. */
import { dirname, resolve } from "node:path";
import { closest } from "./closest.ts";
import { documentsOf, type LoadedDocument, loadFiles } from "./load.ts";
import { formatPath, type Path, type Problem } from "./problem.ts";
import type { ChannelDocument } from "./watch-channel-schema.ts";
import type {
  SecretPlace,
  WatchChannel,
  WatchDefinition,
  WatchRoute,
  WatchWindow,
} from "./watch-definition.ts";
import type { WatchDocument } from "./watch-schema.ts";

/**
 * What this folder cannot judge, because it stands below: schedules and the names of rules.
 * Each answers what is wrong, or null.
 */
export interface WatchJudge {
  schedule(cron: string, zone: string): string | null;
  readonly ruleNames: readonly string[];
}

/** Reads the one watch of a file, for programs that are started with `--watch FILE`. Never throws for what is in it. */
export async function loadWatch(
  file: string,
  judge: WatchJudge,
): Promise<{ readonly watch: WatchDefinition | undefined; readonly problems: readonly Problem[] }> {
  const { documents, problems } = await loadFiles([file]);
  if (problems.length > 0) return { watch: undefined, problems };
  const [first, second] = documentsOf(
    documents.filter(({ kind }) => kind === "Watch"),
    "Watch",
  );
  if (first && !second) {
    const found = watchProblems(first, judge);
    return { watch: found.length > 0 ? undefined : define(first), problems: found };
  }
  const { line, column } = second ?? { line: 0, column: 0 };
  const message = second ? "is a second kind: Watch; name a file with one" : "has no document of kind: Watch";
  return { watch: undefined, problems: [{ file, line, column, path: "", message }] };
}

type WatchFile = LoadedDocument<"Watch"> & { readonly value: WatchDocument };

const longestSilenceMs = 90 * 86_400_000;

/** What the schema cannot see: names that refer to others, schedules, and a hole that alerts could fall through. */
function watchProblems(document: WatchFile, judge: WatchJudge): Problem[] {
  const { spec } = document.value;
  const problems: Problem[] = [];
  const complain = (path: Path, message: string, more: Partial<Problem> = {}, what?: "key") =>
    problems.push({ ...document.positionOf(path, what), path: formatPath(path), message, ...more });
  const names = spec.channels.map((channel) => channel.name);
  for (const [i, name] of names.entries())
    if (names.indexOf(name) < i) complain(["spec", "channels", i, "name"], "is used twice");
  for (const [i, route] of spec.routes.entries()) {
    for (const field of ["channels", "fallback", "escalateTo"] as const)
      for (const [j, name] of route[field].entries())
        if (!names.includes(name)) {
          const suggestion = closest(name, names);
          complain(["spec", "routes", i, field, j], "is not one of the channels", {
            value: JSON.stringify(name),
            choices: names,
            ...(suggestion !== undefined && { suggestion }),
          });
        }
    const last = i === spec.routes.length - 1;
    const open = Object.keys(route.match).length === 0;
    if (last && !open)
      complain(["spec", "routes", i], "must fit everything, being the last: else alerts would reach nobody");
    if (!last && open) complain(["spec", "routes", i], "fits everything, so those after it are never used");
  }
  for (const rule of Object.keys(spec.rules))
    if (!judge.ruleNames.includes(rule)) {
      const suggestion = closest(rule, judge.ruleNames);
      const more = { choices: judge.ruleNames, ...(suggestion !== undefined && { suggestion }) };
      complain(["spec", "rules", rule], "is not the name of a rule", more, "key");
    }
  const schedules: [Path, string | undefined, string | undefined][] = [
    ...spec.windows.map((one, i): [Path, string | undefined, string | undefined] => [
      ["spec", "windows", i, "cron"],
      one.cron,
      one.zone,
    ]),
    [["spec", "testAlert", "cron"], spec.testAlert?.cron, spec.testAlert?.zone],
  ];
  for (const [path, cron, zone] of schedules) {
    if (cron === undefined || zone === undefined) continue;
    const wrong = judge.schedule(cron, zone);
    if (wrong !== null) complain(path, wrong);
  }
  for (const [i, { until }] of spec.silences.entries())
    if (until.getTime() > Date.now() + longestSilenceMs)
      complain(
        ["spec", "silences", i, "until"],
        "must lie at most 90 days ahead: a silence must not be forgotten",
      );
  if (spec.thresholds.clockWarn >= spec.thresholds.clockCritical)
    complain(["spec", "thresholds", "clockWarn"], "must be less than clockCritical");
  return problems;
}

function define({ file, value: { metadata, spec } }: WatchFile): WatchDefinition {
  const folder = dirname(resolve(file));
  const { delivery, heartbeat, testAlert } = spec;
  return {
    name: metadata.name,
    everyMs: spec.every,
    startUpGraceMs: spec.startUpGrace,
    http: spec.http,
    spoolFile: resolve(folder, spec.spoolFile),
    thresholds: spec.thresholds,
    jobs: spec.jobs.map(({ job, grace, deadline }) => ({
      job,
      graceMs: grace,
      deadlineMs: deadline ?? null,
    })),
    rules: Object.fromEntries(
      Object.entries(spec.rules).map(([name, rule]) => [
        name,
        {
          enabled: rule.enabled,
          ...(rule.for !== undefined && { forMs: rule.for }),
          ...(rule.severity !== undefined && { severity: rule.severity }),
        },
      ]),
    ),
    channels: spec.channels.map((channel) => defineChannel(channel, folder)),
    routes: spec.routes.map(
      ({ match, channels, fallback, escalateAfter, escalateTo }): WatchRoute => ({
        match,
        channels,
        fallback,
        ...(escalateAfter !== undefined && { escalation: { afterMs: escalateAfter, to: escalateTo } }),
      }),
    ),
    silences: spec.silences,
    windows: spec.windows.map(
      ({ match, reason, cron, zone, duration, from, to }): WatchWindow =>
        cron !== undefined && zone !== undefined && duration !== undefined
          ? { kind: "repeated", match, reason, cron, zone, durationMs: duration }
          : { kind: "single", match, reason, from: from!, to: to! },
    ),
    delivery: {
      retryFirstMs: delivery.retryFirst,
      retryCapMs: delivery.retryCap,
      fallbackAfter: delivery.fallbackAfter,
      keepTryingMs: delivery.keepTrying,
      digestAbove: delivery.digestAbove,
      digestAfterMs: delivery.digestAfter,
    },
    ...(heartbeat && {
      heartbeat: {
        url: place(folder, heartbeat.urlFile, heartbeat.urlEnv, heartbeat.url),
        everyMs: heartbeat.every,
        timeoutMs: heartbeat.timeout,
      },
    }),
    ...(testAlert && {
      testAlert: { cron: testAlert.cron, zone: testAlert.zone, withinMs: testAlert.within },
    }),
  };
}

function defineChannel(channel: ChannelDocument, folder: string): WatchChannel {
  const base = { name: channel.name, timeoutMs: channel.timeout };
  switch (channel.type) {
    case "webhook":
      return {
        ...base,
        type: "webhook",
        url: place(folder, channel.urlFile, channel.urlEnv, channel.url),
        secret: place(folder, channel.secretFile, channel.secretEnv),
      };
    case "alertmanager": {
      const url = place(folder, channel.urlFile, channel.urlEnv, channel.url);
      return { ...base, type: "alertmanager", url, resendEveryMs: channel.resendEvery };
    }
    case "exec":
      return { ...base, type: "exec", command: channel.command, folder };
    case "pagerduty":
      return {
        ...base,
        type: "pagerduty",
        url: { from: "plain", value: channel.url },
        routingKey: place(folder, channel.routingKeyFile, channel.routingKeyEnv),
      };
    case "slack":
      return { ...base, type: "slack", url: place(folder, channel.urlFile, channel.urlEnv) };
    case "smtp": {
      const { host, port, security, from, to, user, caFile } = channel;
      return {
        ...base,
        ...{ type: "smtp", host, port, security, from, to },
        ...(caFile !== undefined && { caFile: resolve(folder, caFile) }),
        ...(user !== undefined && {
          login: { user, password: place(folder, channel.passwordFile, channel.passwordEnv) },
        }),
      };
    }
  }
}

function place(folder: string, file?: string, variable?: string, value?: string): SecretPlace {
  if (file !== undefined) return { from: "file", file: resolve(folder, file) };
  if (variable !== undefined) return { from: "env", variable };
  return { from: "plain", value: value! };
}
