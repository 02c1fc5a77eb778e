/** The files that a watch file names: keys, passwords and secret URLs, which are never in it. */
import { documentsOf, loadText } from "./load.ts";

export interface NamedFile {
  /** As it is written: relative to the watch file, or absolute. */
  readonly path: string;
  /** False for certificates. */
  readonly secret: boolean;
}

const secretFields = ["secretFile", "urlFile", "routingKeyFile", "passwordFile"] as const;

/** Each once, in the order of the file; nothing for a text that is no right watch file. */
export function filesNamedIn(text: string, file: string): NamedFile[] {
  const [watch] = documentsOf(loadText(text, file).documents, "Watch");
  if (!watch) return [];
  const { channels, heartbeat } = watch.value.spec;
  const found = new Map<string, NamedFile>();
  for (const place of [...channels, ...(heartbeat ? [heartbeat] : [])]) {
    const fields = place as Readonly<Record<string, unknown>>;
    for (const [field, secret] of [
      ...secretFields.map((one) => [one, true] as const),
      ["caFile", false] as const,
    ]) {
      const path = fields[field];
      if (typeof path === "string" && !found.get(path)?.secret) found.set(path, { path, secret });
    }
  }
  return [...found.values()];
}
