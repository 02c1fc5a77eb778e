/**
 * The oracle's own calendar: which minutes a cron expression names, minute by
 * minute through Intl. Shares no code with the product; knows numbers, lists,
 * ranges, steps and stars in five fields, which is all the simulation writes.
 */
export interface OracleSchedule {
  readonly cron: string;
  readonly zone: string;
  readonly gap: "run-at-transition" | "skip";
  readonly overlap: "first" | "second" | "both";
}

const minute = 60_000;
const quarter = 15 * minute;

interface Change {
  readonly at: number;
  readonly before: number;
  readonly after: number;
}

/** The offsets of one zone, quarter by quarter. */
class Offsets {
  readonly #format: Intl.DateTimeFormat;
  readonly #known = new Map<number, number>();

  constructor(zone: string) {
    this.#format = new Intl.DateTimeFormat("en-US", {
      timeZone: zone,
      hourCycle: "h23",
      year: "numeric",
      month: "numeric",
      day: "numeric",
      hour: "numeric",
      minute: "numeric",
    });
  }

  at(ms: number): number {
    const start = Math.floor(ms / quarter) * quarter;
    let offset = this.#known.get(start);
    if (offset === undefined) {
      const part = Object.fromEntries(
        this.#format.formatToParts(start).map(({ type, value }) => [type, Number(value)]),
      );
      offset = Date.UTC(part.year!, part.month! - 1, part.day!, part.hour!, part.minute!) - start;
      this.#known.set(start, offset);
    }
    return offset;
  }

  changes(from: number, to: number): Change[] {
    const found: Change[] = [];
    for (let at = Math.ceil(from / quarter) * quarter; at < to; at += quarter) {
      const [before, after] = [this.at(at - quarter), this.at(at)];
      if (before !== after) found.push({ at, before, after });
    }
    return found;
  }
}

const zones = new Map<string, Offsets>();

function offsetsOf(zone: string): Offsets {
  let offsets = zones.get(zone);
  if (!offsets) {
    offsets = new Offsets(zone);
    zones.set(zone, offsets);
  }
  return offsets;
}

/** The instants at which a zone's clock is changed. */
export function clockChanges(zone: string, from: number, to: number): readonly Change[] {
  return offsetsOf(zone).changes(from, to);
}

function field(text: string, low: number, high: number): boolean[] {
  const named = Array.from({ length: high + 1 }, () => false);
  for (const item of text.split(",")) {
    const [range, step = "1"] = item.split("/") as [string, string?];
    const [first, last = first] =
      range === "*" ? [String(low), String(high)] : (range.split("-") as [string, string?]);
    for (let n = Number(first); n <= Number(last); n += Number(step)) named[n] = true;
  }
  return named;
}

/** Every fire in [from, to), by asking each minute. */
export function firesByMinute(
  { cron, zone, gap, overlap }: OracleSchedule,
  from: number,
  to: number,
): number[] {
  const [m, h, dom, mon, dow] = cron.split(" ") as [string, string, string, string, string];
  const named = [
    field(m, 0, 59),
    field(h, 0, 23),
    field(dom, 1, 31),
    field(mon, 1, 12),
    field(dow, 0, 6),
  ] as const;
  const wildcard = /[*/-]/.test(m + h);
  const offsets = offsetsOf(zone);
  const changes = offsets.changes(from - 3 * 86_400_000, to + 3 * 86_400_000);
  const onDay = (local: Date): boolean =>
    named[2][local.getUTCDate()]! && named[3][local.getUTCMonth() + 1]! && named[4][local.getUTCDay()]!;
  const matches = (localMs: number): boolean => {
    const local = new Date(localMs);
    return named[0][local.getUTCMinutes()]! && named[1][local.getUTCHours()]! && onDay(local);
  };
  const fires = new Set<number>();
  for (let start = Math.ceil(from / quarter) * quarter; start < to; start += quarter) {
    const offset = offsets.at(start);
    // Offsets are whole quarters here, so that a quarter lies in one local hour.
    const hour = Math.floor((start + offset) / 3_600_000) % 24;
    if (!named[1][hour] || !onDay(new Date(start + offset))) continue;
    for (let at = start; at < start + quarter; at += minute) {
      const local = at + offset;
      if (!matches(local)) continue;
      const back = wildcard
        ? undefined
        : changes.find((c) => c.after < c.before && local >= c.at + c.after && local < c.at + c.before);
      const isSecond = back !== undefined && at >= back.at;
      if (back && ((overlap === "first" && isSecond) || (overlap === "second" && !isSecond))) continue;
      fires.add(at);
    }
  }
  for (const change of changes) {
    if (gap === "skip" || change.after <= change.before || change.at < from || change.at >= to) continue;
    for (let local = change.at + change.before; local < change.at + change.after; local += minute)
      if (matches(local)) fires.add(change.at);
  }
  return [...fires].sort((a, b) => a - b);
}
