/**
 * A host's clock against the database's, both measured from here. What a clock
 * says was true at some instant between the question and the answer: it is right
 * to within half of the trip, and as with NTP the shortest of a few counts. A
 * host is asked within one command, whose start takes longer than any answer.
 */
import { messageOf } from "../../base/errors.ts";
import { monotonicMs, sleep } from "../../base/monotonic.ts";
import type { ExecResult } from "../../remote/remote.ts";
import type { CheckContext, HostProbe } from "../context.ts";
import type { Result } from "../item.ts";
import { databaseNow } from "./parts.ts";
import { commandEvidence, computed, hostScope, result } from "./verdicts.ts";

/** Says its number and the time to each line. With bash nothing is started for it; without, `date` is. */
const answering = `while read -r n; do echo "$n \${EPOCHREALTIME:-$(date -u +%s.%N)}"; done`;

export const clockCommand = [
  "env",
  "LC_ALL=C",
  "sh",
  "-c",
  `if command -v bash >/dev/null; then exec bash -c '${answering}'; fi; ${answering}`,
] as const;

/** To one clock, at one look. */
const mostTrips = 8;
/** Of the limit: a trip that may be wrong by no more needs no other beside it. */
const shortEnough = 0.05;
/** After the first answer no further question after so long: it must end before its deadline. */
const longestTalkMs = 3_000;
const deadlineMs = 10_000;
/** Where the trips were too slow to tell: other items may keep the host busy, and will be done with it. */
const pauseMs = 3_000;
/** Of the item's time, for looking again so; then there is a last look. */
const patience = 0.5;
/** The database's time comes in whole milliseconds. */
const roundingMs = 1;

/** A clock's time minus the monotonic instant in the middle of the trip. */
interface Reading {
  readonly sinceMs: number;
  readonly errorMs: number;
}

interface Look {
  readonly offsetMs: number;
  readonly errorMs: number;
  readonly said: ExecResult;
}

interface Trouble {
  readonly trouble: string;
  readonly said: ExecResult;
}

/** @param todo what to do about a clock that is off */
export async function measuredFromHere(
  context: CheckContext,
  host: HostProbe,
  { limitMs, todo }: { readonly limitMs: number; readonly todo: string },
): Promise<Result> {
  const scope = hostScope(host);
  try {
    const look = await lookUntilTold(context, host, limitMs);
    const command = commandEvidence(context, host, clockCommand, look.said);
    if ("trouble" in look)
      return result(scope, "unknown", `could not measure its clock: ${look.trouble}`, [command], {
        todo: "run the command there",
      });
    const text = `${look.offsetMs.toFixed(1)} ± ${look.errorMs.toFixed(1)} ms`;
    const evidence = [command, computed(context, "host minus database", text)];
    const verdict = verdictOf(look, limitMs);
    if (verdict === "pass") return result(scope, verdict, `measured from here it is ${text} off`, evidence);
    if (verdict === "unknown")
      return result(scope, verdict, `the trip was too slow to tell: ${text}`, evidence, {
        todo: "look again",
      });
    const message = `measured from here it is ${text} off the database's clock`;
    return result(scope, verdict, message, evidence, { todo });
  } catch (error) {
    return result(scope, "unknown", `could not measure its clock: ${messageOf(error)}`, [], {
      todo: "make it reachable",
    });
  }
}

/** Looks again, with pauses, while what it saw is too wide to tell. */
async function lookUntilTold(
  context: CheckContext,
  host: HostProbe,
  limitMs: number,
): Promise<Look | Trouble> {
  const untilMs = monotonicMs() + context.itemTimeoutMs * patience;
  let best = await lookOnce(context, host, limitMs * shortEnough);
  while (!("trouble" in best) && verdictOf(best, limitMs) === "unknown") {
    if (monotonicMs() >= untilMs || context.signal.aborted) break;
    await sleep(pauseMs, context.signal);
    const look = await lookOnce(context, host, limitMs * shortEnough);
    if ("trouble" in look || look.errorMs < best.errorMs) best = look;
  }
  return best;
}

function verdictOf({ offsetMs, errorMs }: Look, limitMs: number): "pass" | "fail" | "unknown" {
  if (Math.abs(offsetMs) - errorMs > limitMs) return "fail";
  return Math.abs(offsetMs) + errorMs <= limitMs ? "pass" : "unknown";
}

/** Both clocks, one right after the other: between two looks a clock may have been set. */
async function lookOnce(context: CheckContext, host: HostProbe, enoughMs: number): Promise<Look | Trouble> {
  const talk = new ClockTalk(enoughMs);
  const said = await host.exec(clockCommand, { deadlineMs, dialogue: (piece) => talk.hear(piece) });
  const ofHost = talk.outcome(said);
  if (typeof ofHost === "string") return { trouble: ofHost, said };
  const ofStore = await askStore(context, enoughMs);
  return {
    offsetMs: ofHost.sinceMs - ofStore.sinceMs,
    errorMs: ofHost.errorMs + ofStore.errorMs + roundingMs,
    said,
  };
}

async function askStore(context: CheckContext, enoughMs: number): Promise<Reading> {
  let best: Reading | undefined;
  for (let trip = 1; ; trip++) {
    const sentMs = monotonicMs();
    const wallMs = (await databaseNow(context)).getTime();
    best = shorter(best, readingOf(wallMs, sentMs, monotonicMs()));
    if (trip === mostTrips || best.errorMs <= enoughMs) return best;
  }
}

/** One question after the other, each with its number, so that no answer is taken for that to another. */
class ClockTalk {
  readonly #enoughMs: number;
  #asked = 0;
  #sentMs = 0;
  #firstMs: number | undefined;
  #line = "";
  #best: Reading | undefined;
  #end: "none" | "told" | "odd" = "none";

  constructor(enoughMs: number) {
    this.#enoughMs = enoughMs;
  }

  hear(piece: string): string | null {
    const receivedMs = monotonicMs();
    if (this.#asked === 0) return this.#ask();
    this.#line += piece;
    const isWhole = this.#line.includes("\n");
    if (!isWhole && this.#line.length < 100) return "";
    const wallMs = Number(
      new RegExp(`^${this.#asked} (\\d+\\.\\d+)\\n$`).exec(this.#line)?.[1] ?? Number.NaN,
    );
    if (Number.isNaN(wallMs)) {
      this.#end = "odd";
      return null;
    }
    this.#best = shorter(this.#best, readingOf(wallMs * 1_000, this.#sentMs, receivedMs));
    this.#firstMs ??= receivedMs;
    const isLate = receivedMs - this.#firstMs > longestTalkMs;
    if (this.#asked < mostTrips && this.#best.errorMs > this.#enoughMs && !isLate) return this.#ask();
    this.#end = "told";
    return null;
  }

  /** The shortest trip, or why there is none. */
  outcome({ exitCode, signal, stderr }: ExecResult): Reading | string {
    if (this.#end === "odd")
      return `it told no time with fractions of a second, but ${JSON.stringify(this.#line.trim().slice(0, 100))}`;
    if (this.#end === "told" && exitCode === 0) return this.#best!;
    const why = stderr.trim().split("\n").at(-1);
    return `its command ended early with ${signal ?? exitCode}${why ? `: ${why}` : ""}`;
  }

  #ask(): string {
    this.#asked++;
    this.#line = "";
    this.#sentMs = monotonicMs();
    return `${this.#asked}\n`;
  }
}

function readingOf(wallMs: number, sentMs: number, receivedMs: number): Reading {
  return { sinceMs: wallMs - (sentMs + receivedMs) / 2, errorMs: (receivedMs - sentMs) / 2 };
}

function shorter(a: Reading | undefined, b: Reading): Reading {
  return a !== undefined && a.errorMs <= b.errorMs ? a : b;
}
