/** Whether somebody outside would notice the watchman's own death: its heartbeat, as its metrics show it. */
import { formatDuration } from "../../base/duration.ts";
import type { CheckContext } from "../context.ts";
import type { Result } from "../item.ts";
import { gatherSections, sectionScript } from "./host-sections.ts";
import { clusterScope, commandEvidence, fileEvidence, result } from "./verdicts.ts";

const metric = "escapement_watchman_heartbeat_seconds";

/** The watchman's own Node asks where there is no curl. */
export function metricsScript(port: number): readonly string[] {
  const url = `http://127.0.0.1:${port}/metrics`;
  return sectionScript(`
section metrics
if command -v curl >/dev/null 2>&1; then curl -fsS --max-time 5 ${url}
else /opt/escapement/current/node -e 'fetch("${url}").then(async (r) => process.stdout.write(await r.text()))'
fi | grep -E '^(# HELP )?${metric}' || section unread
`);
}

export async function heartbeat(context: CheckContext): Promise<readonly Result[]> {
  const scope = clusterScope(context);
  const watch = context.definitions.watch;
  if (!watch)
    return [
      result(scope, "unknown", "no watch file says whom the watchman calls", [], {
        todo: "name the watch file",
      }),
    ];
  const location = { file: watch.file, line: watch.line };
  const { heartbeat: settings, http } = watch.definition;
  if (!settings) {
    const evidence = [fileEvidence(context, watch.file, "spec.heartbeat is not written")];
    const todo = "write spec.heartbeat: an address outside that notices when nobody calls";
    return [
      result(scope, "fail", "nobody would notice the watchman's own death", evidence, { todo, location }),
    ];
  }
  const host = context.hosts.find(({ roles }) => roles.includes("watchman"));
  if (!host)
    return [result(scope, "unknown", "no host of the inventory is the watchman's", [], { location })];
  const gathered = await gatherSections(host, metricsScript(http.port));
  const text = gathered.sections.find(({ title }) => title === "metrics")?.text ?? "";
  const evidence = [commandEvidence(context, host, gathered.argv, { ...gathered.said, stdout: text })];
  const seconds = new RegExp(`^${metric}(?:\\{[^}]*\\})? (\\S+)$`, "m").exec(text)?.[1];
  const mostMs = 3 * settings.everyMs;
  if (seconds === undefined || Number.isNaN(Number(seconds))) {
    if (gathered.sections.some(({ title }) => title === "unread"))
      return [
        result(scope, "unknown", "the watchman's metrics do not show a heartbeat", evidence, { location }),
      ];
    return [
      result(scope, "fail", "the heartbeat was never answered", evidence, {
        todo: "see the watchman's log",
        location,
      }),
    ];
  }
  const silentMs = Number(seconds) * 1_000;
  if (!(silentMs <= mostMs)) {
    const message = `the heartbeat was answered ${formatDuration(Math.round(silentMs))} ago, and should be every ${formatDuration(settings.everyMs)}`;
    return [result(scope, "fail", message, evidence, { todo: "see the watchman's log", location })];
  }
  return [
    result(
      scope,
      "pass",
      `the heartbeat was answered ${formatDuration(Math.round(silentMs))} ago`,
      evidence,
      { location },
    ),
  ];
}
