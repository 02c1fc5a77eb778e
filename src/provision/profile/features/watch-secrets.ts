/**
 * The keys and passwords that a watch file names: those that lie beside it in
 * the site's folder go beside it on the host, as secrets: plans show their sums
 * only, they travel on standard input, and root and the toolkit's group alone may read them.
 */
import { readFileSync, statSync } from "node:fs";
import { dirname, posix, resolve } from "node:path";
import { messageOf } from "../../../base/errors.ts";
import { filesNamedIn, type NamedFile } from "../../../spec/watch-files.ts";
import type { Resource } from "../../resource.ts";
import { fromSetting, type HostContext, type Sourced } from "../host-context.ts";
import { file } from "../make-resource.ts";
import { paths, toolkitUser } from "./paths.ts";

/** Written by others: a key of one of these names would take their place. */
const taken: readonly string[] = [
  ...[paths.clusterFile, paths.storeUrl, paths.jobUsers],
  ...["watch.yaml", "ship-logs.env"].map((name) => posix.join(paths.configuration, name)),
];

/** @param text of the watch file that the setting names */
export function watchSecretsFor(context: HostContext, setting: Sourced<string>, text: string): Resource[] {
  return filesNamedIn(text, setting.value).flatMap((named) => {
    const found = bring(context, setting, named);
    return found ? [found] : [];
  });
}

function bring(context: HostContext, setting: Sourced<string>, { path, secret }: NamedFile): Resource | null {
  const there = posix.resolve(paths.configuration, path);
  // An absolute path says that the host has it from elsewhere.
  if (posix.isAbsolute(path)) return null;
  if (!there.startsWith(`${paths.configuration}/`)) {
    context.note(
      "warning",
      `${path}, which the watch file names, leads out of ${paths.configuration} and is not brought`,
    );
    return null;
  }
  if (taken.includes(there)) {
    context.note(
      "error",
      `${setting.from}: the watch file names ${path}, and ${there} is a file of the toolkit's own`,
    );
    return null;
  }
  const here = resolve(dirname(setting.value), path);
  const common = {
    mode: secret ? 0o640 : 0o644,
    group: secret ? toolkitUser : "root",
    secret,
    after: [`group:${toolkitUser}`, `directory:${paths.configuration}`],
    provenance: [
      fromSetting(`watchman.files.${path}`, { value: secret ? "secret" : here, from: setting.from }),
    ],
  };
  try {
    const bytes = readFileSync(here);
    const content = bytes.toString("utf8");
    if (!Buffer.from(content, "utf8").equals(bytes))
      return file(there, { ...common, content: "", unavailable: `${here} is not text in UTF-8` });
    if (secret && (statSync(here).mode & 0o077) !== 0)
      context.note("warning", `${here} is a secret, and others may read it here: chmod 600`);
    return file(there, { ...common, content });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT")
      return file(there, { ...common, content: "", unavailable: messageOf(error) });
    context.note(
      "warning",
      `${path}, which the watch file names, is not beside it: unless somebody puts it to ${there} on ${context.host.name}, its channel tells nobody`,
    );
    return null;
  }
}
