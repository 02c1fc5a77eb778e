/** What the demo has seen, for people: what was done to the cluster, every fire, the money, the verdict. */
import { formatDuration } from "../../base/duration.ts";
import type { DemoResult, MisfireShow } from "../../lab/demo/demo-result.ts";
import type { Finding } from "../../lab/demo/finding.ts";
import type { JudgedFire } from "../../lab/demo/judge-fires.ts";
import { formatPence } from "../../lab/demo/money.ts";
import { paint, table } from "../terminal.ts";

export function resultText(result: DemoResult): string {
  return [
    headText(result),
    section("What was done to it", doneText(result)),
    section("Every expected fire, reckoned from the job files alone", firesText(result.fires)),
    section("Nobody ran for a while: what became of the fires that came due", misfireText(result)),
    section("Settlement, to the penny", settlementText(result)),
    section("Bonus payouts, as the receiving endpoint booked them", payoutText(result)),
    section("What must be refused", refusalText(result)),
    verdictText(result),
  ].join("\n\n");
}

function section(title: string, text: string): string {
  return `${paint.bold(title)}\n${text}`;
}

function headText({ postgres, cluster, input }: DemoResult): string {
  const payments = `${count(input.payments)} payments ${input.data === null ? `from seed ${input.seed}` : `of ${input.data}`}`;
  const share = `${((100 * input.heavyRows) / input.payments).toFixed(1)} %`;
  return [
    `${paint.bold("escapement demo")}  real processes on one machine (process tier)`,
    `PostgreSQL ${postgres.major} (${postgres.source}), ${cluster.schedulers} schedulers, ${cluster.executors} executors;` +
      ` leases of ${formatDuration(cluster.leaseMs)} instead of 15s, so that a takeover fits in`,
    `${payments}; ${input.heavySupplier} has ${share} of the rows and a shard of its own`,
  ].join("\n");
}

function doneText({ leaderKill, executorKill, stop, shardsRetried, attemptsLost }: DemoResult): string {
  const lines: [at: number | null, text: string][] = [];
  const { successor } = leaderKill;
  lines.push([
    leaderKill.atMs,
    `SIGKILL to ${leaderKill.node}, pid ${leaderKill.pid}, the leader of epoch ${leaderKill.epoch}`,
  ]);
  if (successor) {
    const planned =
      successor.plannedAfterMs === null
        ? "not seen to plan"
        : `planned again after ${seconds(successor.plannedAfterMs)}`;
    lines.push([
      leaderKill.atMs + successor.ledAfterMs,
      `${successor.node} leads, epoch ${successor.epoch}: ${seconds(successor.ledAfterMs)} after the kill; ${planned}`,
    ]);
  } else lines.push([null, paint.red("nobody took over")]);
  if (executorKill) {
    const running = Object.entries(executorKill.running).map(([job, of]) => `${shortName(job)} ${of}`);
    lines.push([
      executorKill.atMs,
      `SIGKILL to ${executorKill.node}, pid ${executorKill.pid}, while it ran ${running.join(", ")}`,
    ]);
    const again = executorKill.lost.filter((attempt) => attempt.madeGood).length;
    if (executorKill.putBackAfterMs !== null)
      lines.push([
        executorKill.atMs + executorKill.putBackAfterMs,
        `${plural(executorKill.lost.length, "shard")} put back, ${again} of them done by another attempt`,
      ]);
  } else lines.push([null, paint.yellow("no executor could be killed while it held a shard")]);
  const interrupted = attemptsLost.interrupted ?? 0;
  const given = interrupted > 0 ? `; ${plural(interrupted, "attempt")} interrupted and given back` : "";
  lines.push([
    stop.atMs,
    `all schedulers and executors stopped, for ${seconds(stop.readyMs - stop.stoppedMs)}${given}`,
  ]);
  lines.sort(([a], [b]) => (a ?? Infinity) - (b ?? Infinity));
  lines.push([null, `shards that needed more than one attempt: ${shardsRetried}`]);
  return lines
    .map(
      ([at, text]) => `${at === null ? " ".repeat(7) : `${(at / 1_000).toFixed(1).padStart(5)} s`}  ${text}`,
    )
    .join("\n");
}

const colours: Record<JudgedFire["outcome"], (text: string) => string> = {
  done: paint.green,
  "caught-up": paint.cyan,
  missed: paint.yellow,
  unsettled: paint.magenta,
  lost: paint.red,
};

function firesText(fires: readonly JudgedFire[]): string {
  const rows = fires.map((fire, i) => {
    const { expected, record, outcome } = fire;
    const first = fires[i - 1]?.expected.job !== expected.job;
    const [day = "", time = ""] = new Date(expected.fireMs).toISOString().split(/[TZ]/);
    return [
      first ? shortName(expected.job) : "",
      expected.trigger === "by-hand" ? `${day} ${time.slice(0, 5)}` : time.slice(0, 8),
      record ? record.executionId.slice(0, 8) : "-",
      `${record?.shardsSucceeded ?? 0}/${expected.shards}`,
      String(record?.attempts ?? 0),
      record?.missedSeconds == null ? "-" : lateness(record.missedSeconds),
      outcomeText(fire, colours[outcome]),
    ];
  });
  return table(["job", "fire (UTC)", "execution", "shards", "attempts", "missed", "outcome"], rows);
}

function outcomeText({ expected, record, outcome }: JudgedFire, colour: (text: string) => string): string {
  const note = expected.trigger === "by-hand" ? `${expected.period}, by hand` : "";
  return [colour(outcome), note, paint.dim(record?.reason ?? "")].filter((part) => part !== "").join("  ");
}

function misfireText({ misfire }: DemoResult): string {
  const rows = misfire.map((show) => [
    show.job,
    show.policy,
    ruleText(show),
    `${show.due} due: ${show.onTime + show.caughtUp} run, ${show.caughtUp} of them caught up, ${show.missed} entered as missed`,
  ]);
  return table(["job", "misfire policy", "rule", "while nobody ran"], rows);
}

function ruleText({ policy, thresholdMs, windowMs }: MisfireShow): string {
  const late = `later than ${formatDuration(thresholdMs)}`;
  if (policy === "run-now") return `${late}: run all the same`;
  if (policy === "skip") return `${late}: never`;
  return `${late}: run up to ${formatDuration(windowMs ?? 0)}`;
}

function settlementText({ settlement }: DemoResult): string {
  const difference = (pence: number) =>
    pence === 0 ? paint.green(formatPence(0)) : paint.red(formatPence(pence));
  const rows = settlement.map((one) => [
    one.period,
    right(count(one.payments), 8),
    right(count(one.suppliers), 9),
    right(formatPence(one.inputPence), 16),
    right(formatPence(one.settledPence), 16),
    difference(one.differencePence),
  ]);
  const sum = (of: (one: DemoResult["settlement"][number]) => number) =>
    settlement.reduce((total, one) => total + of(one), 0);
  rows.push([
    "total",
    right(count(sum((one) => one.payments)), 8),
    right("", 9),
    right(formatPence(sum((one) => one.inputPence)), 16),
    right(formatPence(sum((one) => one.settledPence)), 16),
    difference(sum((one) => one.differencePence)),
  ]);
  const header = ["month", "payments", "suppliers", right("paid in", 16), right("settled", 16), "difference"];
  return table(header, rows);
}

function payoutText({ payouts }: DemoResult): string {
  const same = payouts.due === payouts.received && payouts.duePence === payouts.receivedPence;
  const colour = same ? paint.green : paint.red;
  const repeats =
    payouts.repeats === 0
      ? "none was sent twice"
      : `${plural(payouts.repeats, "repeat")} by its key recognised and not paid again`;
  return [
    `due       ${count(payouts.due)}, ${formatPence(payouts.duePence)}`,
    `received  ${colour(`${count(payouts.received)}, ${formatPence(payouts.receivedPence)}`)}`,
    `requests  ${count(payouts.requests)}: ${repeats}`,
  ].join("\n");
}

function refusalText({ refusals, staleWrites }: DemoResult): string {
  const lines = refusals.map(
    ({ what, refused, answer }) =>
      `${refused ? paint.green("refused") : paint.red("NOT REFUSED")}  ${what}\n         ${paint.dim(answer)}`,
  );
  lines.push(
    `stale writes refused: ${staleWrites.store} by the record store, ${staleWrites.ledger} by the ledger's fence`,
  );
  return lines.join("\n");
}

function verdictText(result: DemoResult): string {
  const { verdict, findings, fires, tookMs } = result;
  const of = (outcome: JudgedFire["outcome"]) => fires.filter((fire) => fire.outcome === outcome).length;
  const summary =
    `${fires.length} fires expected: ${of("done")} done, ${of("caught-up")} caught up, ${of("missed")} entered as missed by policy` +
    `; ${seconds(tookMs)}`;
  const head = {
    pass: `${paint.green(paint.bold("PASS"))}  nothing lost, nothing doubled`,
    fail: paint.red(paint.bold("FAIL")),
    unknown: `${paint.yellow(paint.bold("UNKNOWN"))}  nothing wrong was found, but not everything could be seen`,
  }[verdict];
  const rest = findings.length - mostFindings;
  const more = rest > 0 ? [`  … and ${rest} more; --json has them all`] : [];
  return [head, ...findings.slice(0, mostFindings).map(findingText), ...more, summary].join("\n");
}

/** More than these would push the verdict off the screen. */
const mostFindings = 20;

function findingText({ kind, what }: Finding): string {
  const colour =
    kind === "remark" ? paint.dim : kind === "unproven" || kind === "unsettled" ? paint.yellow : paint.red;
  return `  ${colour(kind)}  ${what}`;
}

function shortName(job: string): string {
  return job.slice(job.indexOf("/") + 1);
}

function lateness(secondsLate: number): string {
  if (secondsLate < 600) return `${secondsLate.toFixed(1)} s`;
  return `${count(Math.round(secondsLate / 86_400))} days`;
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`;
}

function plural(of: number, noun: string): string {
  return `${count(of)} ${noun}${of === 1 ? "" : "s"}`;
}

function count(of: number): string {
  return of.toLocaleString("en");
}

function right(text: string, width: number): string {
  return text.padStart(width);
}
