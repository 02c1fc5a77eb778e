/**
 * A second, slow answer to "when does this fire", to check the first one by. It shares no code with
 * src/schedule: it walks every instant of an interval, asks Intl what the wall clock shows, and compares
 * fields as text says. Plain cron only: numbers, lists, ranges that do not wrap, steps.
 */

export interface WallClock {
  readonly ms: number;
  /** second, minute, hour, day of month, month, day of week */
  readonly fields: readonly number[];
  /** The same as one number that grows with the wall clock: milliseconds as if it were UTC. */
  readonly label: number;
}

export interface OraclePolicy {
  readonly gap: "run-at-transition" | "skip";
  readonly overlap: "first" | "second" | "both";
}

export interface Walk {
  readonly stepMs: number;
  readonly clocks: readonly WallClock[];
  /** For each label the instants that show it. */
  readonly shownAt: ReadonlyMap<number, readonly number[]>;
}

/** What the wall clock of a zone shows at every step of [fromMs, toMs). */
export function walk(zone: string, fromMs: number, toMs: number, stepMs = 60_000): Walk {
  const format = new Intl.DateTimeFormat("en-US", {
    timeZone: zone,
    hourCycle: "h23",
    year: "numeric",
    month: "numeric",
    day: "numeric",
    hour: "numeric",
    minute: "numeric",
    second: "numeric",
  });
  const clocks: WallClock[] = [];
  const shownAt = new Map<number, number[]>();
  for (let ms = fromMs; ms < toMs; ms += stepMs) {
    // "7/1/2026, 14:05:00"
    const [month, day, year, hour, minute, second] = format.format(ms).match(/\d+/g)!.map(Number) as [
      number,
      number,
      number,
      number,
      number,
      number,
    ];
    const label = Date.UTC(year, month - 1, day, hour, minute, second);
    clocks.push({ ms, label, fields: fieldsOf(label) });
    shownAt.set(label, [...(shownAt.get(label) ?? []), ms]);
  }
  return { stepMs, clocks, shownAt };
}

/** The fires within the walked interval, ascending. Fires in its first and last day may lack their neighbours: ignore them. */
export function fires(expression: string, { stepMs, clocks, shownAt }: Walk, policy: OraclePolicy): number[] {
  const texts = expression.split(" ");
  if (texts.length === 5) texts.unshift("0");
  const wildcard = texts.slice(0, 3).some((text) => /[*/-]/.test(text));
  const wantedValues = texts.map((text, index) =>
    range(0, 59).map((value) => fieldMatches(text, value, index)),
  );
  const matches = (fields: readonly number[]) => fields.every((value, index) => wantedValues[index]![value]);

  const found: number[] = [];
  clocks.forEach(({ ms, label, fields }, index) => {
    if (matches(fields) && wanted(ms, shownAt.get(label)!, wildcard, policy)) {
      found.push(ms);
      return;
    }
    const before = clocks[index - 1];
    if (!before || policy.gap === "skip") return;
    for (let skipped = before.label + stepMs; skipped < label; skipped += stepMs) {
      if (matches(fieldsOf(skipped))) {
        found.push(ms);
        return;
      }
    }
  });
  return found;
}

function range(from: number, to: number): number[] {
  return Array.from({ length: to - from + 1 }, (_, index) => from + index);
}

function wanted(ms: number, shown: readonly number[], wildcard: boolean, policy: OraclePolicy): boolean {
  if (wildcard || policy.overlap === "both" || shown.length === 1) return true;
  return ms === (policy.overlap === "first" ? shown[0] : shown.at(-1));
}

function fieldsOf(label: number): number[] {
  const date = new Date(label);
  return [
    date.getUTCSeconds(),
    date.getUTCMinutes(),
    date.getUTCHours(),
    date.getUTCDate(),
    date.getUTCMonth() + 1,
    date.getUTCDay(),
  ];
}

const lasts = [59, 59, 23, 31, 12, 6];

function fieldMatches(text: string, value: number, index: number): boolean {
  return text.split(",").some((item) => {
    const [base = "", stepText] = item.split("/");
    const step = Number(stepText ?? 1);
    const [low, high] =
      base === "*"
        ? [index === 3 || index === 4 ? 1 : 0, lasts[index]!]
        : base.includes("-")
          ? base.split("-").map(Number)
          : [Number(base), stepText === undefined ? Number(base) : lasts[index]!];
    return value >= low! && value <= high! && (value - low!) % step === 0;
  });
}
