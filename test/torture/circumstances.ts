/** What happened around a violation, so that a run in CI that fails can be understood from its log alone. */
import type { Finding } from "../../src/chaos/checkers/finding.ts";
import type { History } from "../../src/chaos/history.ts";

/** Faults that began this long before the fire, or after it and before its last process ended, are told. */
const faultsBeforeMs = 10_000;

/** Lines on the attempts of the violated shard (or fire), as recorded and as seen, and on the faults of that time. */
export function circumstances(history: History, { job, fireTime, shardNo }: Finding): string[] {
  const concerns = (row: { job: string; fireTime: string; shardNo: number }) =>
    row.job === job && row.fireTime === fireTime && (shardNo === undefined || row.shardNo === shardNo);
  const lines = new Map<string, string>();
  for (const row of history.attempts.filter(concerns))
    lines.set(
      `${row.startedAt} a`,
      `shard ${row.shardNo} attempt ${row.attempt} by ${row.owner}: recorded ${clock(row.startedAt)} to ${clock(row.endedAt)}, ${row.status}`,
    );
  const seen = history.sightings.filter(concerns);
  for (const row of seen)
    lines.set(
      `${row.from} b${row.seq}`,
      `shard ${row.shardNo} attempt ${row.attempt}: seen ${clock(row.from)} to ${clock(row.until)}`,
    );
  const fireMs = Date.parse(fireTime);
  const from = fireMs - faultsBeforeMs;
  const until = Math.max(fireMs, ...seen.map((row) => Date.parse(row.until ?? row.from)));
  for (const [i, fault] of history.faults.entries()) {
    const at = Date.parse(fault.at);
    if (at < from || at > until) continue;
    const whose = fault.unsupervised.length > 0 ? `, unsupervised ${fault.unsupervised.join(", ")}` : "";
    lines.set(
      `${fault.at} c${i}`,
      `${fault.kind} of ${fault.target}: ${clock(fault.at)} to ${clock(fault.until)}${fault.proven ? "" : ", not proven"}${whose}`,
    );
  }
  return [...lines].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, line]) => line);
}

function clock(instant: string | null): string {
  return instant === null ? "no end" : instant.slice(11, 23);
}
