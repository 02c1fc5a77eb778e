/** Reads what pg_test_fsync and fio print. */

/** Flushes a second with fdatasync, 8 KiB written once before each; undefined when the text has no such line. */
export function parsePgTestFsync(text: string): number | undefined {
  const once = /Compare file sync methods using one 8kB write:([\s\S]*?)(?:\n\s*\n|$)/.exec(text)?.[1];
  const rate = /^\s*fdatasync\s+([\d.]+)\s+ops\/sec/m.exec(once ?? "")?.[1];
  return rate === undefined ? undefined : Number(rate);
}

/** Operations a second out of fio's JSON, all jobs together. */
export function parseFio(text: string, what: "read" | "write"): number | undefined {
  // fio may print a line of its own before the document.
  const start = text.indexOf("{");
  if (start < 0) return undefined;
  try {
    const document = JSON.parse(text.slice(start)) as {
      jobs?: { read?: { iops?: unknown }; write?: { iops?: unknown } }[];
    };
    const rates = (document.jobs ?? []).map((job) => job[what]?.iops);
    if (rates.length === 0 || rates.some((rate) => typeof rate !== "number")) return undefined;
    return (rates as number[]).reduce((sum, rate) => sum + rate, 0);
  } catch {
    return undefined;
  }
}
