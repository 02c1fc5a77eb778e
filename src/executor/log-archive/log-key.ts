/**
 * The name of a log in the archive. It depends on what the file holds, not on
 * its place in the rotation, so that a file that is shipped twice is one file.
 */

const instantPattern = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z-[0-9a-f]{12}\.log\.gz$/;

/**
 * @param folder path below the log folder: node and namespace
 * @param firstLineAt when its first line was written
 * @param sha256 of what is in it, not compressed
 */
export function logKey(host: string, folder: string, job: string, firstLineAt: Date, sha256: string): string {
  const instant = firstLineAt.toISOString().replace(/[-:]|\.\d+/g, "");
  return [host, ...folder.split("/"), job, `${instant}-${sha256.slice(0, 12)}.log.gz`]
    .filter((part) => part !== "" && part !== ".")
    .join("/");
}

/** When the first line of an archived file was written; undefined for a file that is not ours. */
export function instantOfKey(name: string): Date | undefined {
  const match = instantPattern.exec(name);
  if (!match) return undefined;
  const [, year, month, day, hour, minute, second] = match;
  return new Date(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
}
