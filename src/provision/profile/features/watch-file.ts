/** What the watchman judges by and whom it tells: the site's own file, or one that tells the host's journal. */
import { readFileSync } from "node:fs";
import { messageOf } from "../../../base/errors.ts";
import type { Resource } from "../../resource.ts";
import { computed, fromSetting, type HostContext } from "../host-context.ts";
import { file, linesFile } from "../make-resource.ts";
import { paths, toolkitUser } from "./paths.ts";
import { watchSecretsFor } from "./watch-secrets.ts";

export const watchFile = "/etc/escapement/watch.yaml";
/** The watchman's own folder, which its unit makes: the spool lies there. */
export const watchState = "/var/lib/escapement-watchman";

/** Without receivers of the site's own, alerts are lines of the journal, and rows of the records. */
const journalOnly = [
  "apiVersion: escapement/v1",
  "kind: Watch",
  "metadata: { name: journal }",
  "spec:",
  "  description: Alerts go into the journal of this host. The setting watchFile names a file with receivers.",
  `  spoolFile: ${watchState}/spool`,
  "  channels:",
  "    - { name: journal, type: exec, command: [/usr/bin/logger, -t, escapement-alert, -p, daemon.crit] }",
  "  routes:",
  "    - channels: [journal]",
];

/** The host's own toolkit judges it before it is put in place: a wrong file changes nothing. */
const validator = {
  name: "escapement alerts check",
  argv: [`${paths.current}/node`, `${paths.current}/escapement.mjs`, "alerts", "check", "{file}"],
};

/** The watch file, and the keys that it names. */
export function watchFilesFor(context: HostContext): Resource[] {
  const setting = context.text("watchFile");
  const common = {
    mode: 0o640,
    group: toolkitUser,
    risk: "medium" as const,
    restarts: [{ unit: "escapement-watchman.service", action: "try-restart" as const }],
    after: [`group:${toolkitUser}`, `directory:${paths.configuration}`],
    validator,
  };
  if (!setting) {
    context.note(
      "warning",
      `the inventory has no setting watchFile: alerts of ${context.host.name} go into its journal and the records, and to nobody`,
    );
    const because = "no setting watchFile: alerts go into the journal";
    const provenance = [computed("watchman.watchFile", "journal only", because)];
    return [linesFile(watchFile, { ...common, lines: journalOnly, provenance })];
  }
  const provenance = [fromSetting("watchman.watchFile", setting)];
  try {
    const content = readFileSync(setting.value, "utf8");
    return [
      ...watchSecretsFor(context, setting, content),
      file(watchFile, { ...common, content, provenance }),
    ];
  } catch (error) {
    const unavailable = `${setting.from}: ${messageOf(error)}`;
    return [file(watchFile, { ...common, content: "", provenance, unavailable })];
  }
}
