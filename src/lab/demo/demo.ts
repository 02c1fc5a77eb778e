/**
 * The demo: the example cluster as real processes, killed while it works, and
 * then everything it did counted. This file sets the stage and clears it.
 */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join, resolve } from "node:path";
import { EscapementError } from "../../base/errors.ts";
import { monotonicMs } from "../../base/monotonic.ts";
import { type ProcessCluster, startProcessCluster } from "../process-cluster.ts";
import type { DemoResult } from "./demo-result.ts";
import { adaptJobs, type Example, exampleJob, readExample, settlementJob } from "./example.ts";
import { lastPeriods } from "./expected-fire.ts";
import { Ledger } from "./ledger.ts";
import { heaviestSupplier, type Payment, type Person, periodsOf } from "./payment.ts";
import { readPaymentFiles } from "./payment-files.ts";
import { generatePayments, generatePeople } from "./payment-generator.ts";
import { type PayoutEndpoint, startPayoutEndpoint } from "./payout-endpoint.ts";
import { perform } from "./performance.ts";
import { sumUp } from "./sum-up.ts";

export interface DemoOptions {
  /** Of everything that is generated: people always, payments unless `data` is given. */
  readonly seed: number;
  /** A folder of real payments, see {@link readPaymentFiles}. */
  readonly data: string | undefined;
}

export interface DemoAudience {
  /** A line about what happens; `elapsedMs` since the beginning. */
  progress(line: string, elapsedMs: number): void;
  /** Ends the demo early; its reason is thrown when everything has been cleared away. */
  readonly signal: AbortSignal;
  /** Called with the result while the cluster still runs; it is cleared away afterwards. */
  shown(result: DemoResult, cluster: ProcessCluster): Promise<void>;
}

export interface DemoInput {
  readonly seed: number;
  /** Absolute. */
  readonly data: string | null;
  readonly payments: readonly Payment[];
  readonly people: readonly Person[];
  readonly heavy: { readonly supplier: string; readonly rows: number };
}

/** How many months are generated. */
const generatedMonths = 3;
/** One runs and twelve wait in line: more would be blocked by the policy of the job. */
const mostMonths = 13;

/** @throws the signal's reason; E_BAD_DATA for wrong input; E_UNAVAILABLE, E_PROGRAM_MISSING when nothing can be started */
export async function runDemo(options: DemoOptions, audience: DemoAudience): Promise<DemoResult> {
  const beganMs = monotonicMs();
  const elapsedMs = () => monotonicMs() - beganMs;
  const progress = (line: string) => audience.progress(line, elapsedMs());
  const example = await readExample();
  const input = await readInput(options, example);
  progress(`${input.payments.length.toLocaleString("en")} payments; starting PostgreSQL and the cluster`);
  const folder = mkdtempSync(join(tmpdir(), "escapement-demo-"));
  const removeFolder = () => rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
  // Also when somebody cannot wait for an orderly end; the processes see to theirs by themselves.
  process.once("exit", removeFolder);
  let endpoint: PayoutEndpoint | undefined;
  let ledger: Ledger | undefined;
  let cluster: ProcessCluster | undefined;
  try {
    endpoint = await startPayoutEndpoint();
    cluster = await startCluster(folder, example);
    audience.signal.throwIfAborted();
    ledger = new Ledger(await cluster.server.createDatabase("ledger"));
    await ledger.fill(example.ledgerSchema, input.payments, input.people);
    const ledgerUrl = new URL(cluster.server.urlOf("ledger"));
    ledgerUrl.username = "ledger_job";
    const jobs = adaptJobs(example.jobs, {
      ledgerUrl: ledgerUrl.href,
      payoutUrl: endpoint.url,
      heavySupplier: input.heavy.supplier,
    });
    progress("everything runs");
    const stage = { cluster, elapsedMs, progress, signal: audience.signal };
    const performed = await perform(stage, jobs, input, endpoint);
    const result = await sumUp(stage, { example, input, jobs, ledger, endpoint, performed });
    await audience.shown(result, cluster);
    return result;
  } finally {
    progress("clearing everything away");
    await ledger?.close().catch(() => {});
    await cluster?.down();
    await endpoint?.close();
    removeFolder();
    process.off("exit", removeFolder);
  }
}

async function readInput({ seed, data }: DemoOptions, example: Example): Promise<DemoInput> {
  const settlement = exampleJob(example.jobs, settlementJob);
  const payments =
    data === undefined
      ? generatePayments(seed, lastPeriods(settlement, generatedMonths, new Date()))
      : await readPaymentFiles(data);
  if (periodsOf(payments).length > mostMonths) {
    throw new EscapementError("E_BAD_DATA", {
      what: `${data} holds ${periodsOf(payments).length} months`,
      hint: `the demo settles at most ${mostMonths} at a time; give a folder with fewer files`,
    });
  }
  return {
    seed,
    data: data === undefined ? null : resolve(data),
    payments,
    people: generatePeople(seed),
    heavy: heaviestSupplier(payments),
  };
}

function startCluster(folder: string, example: Example): Promise<ProcessCluster> {
  const temporary = join(folder, "tmp");
  mkdirSync(temporary);
  return startProcessCluster({
    ...example.shape,
    directory: folder,
    // Statements this short gain nothing from being compiled, and each would wait for it.
    environment: {
      // `node` in a job's command is the Node that runs us; what the processes put down is inside our folder.
      PATH: [dirname(process.execPath), process.env.PATH ?? ""].join(delimiter),
      TMPDIR: temporary,
    },
  });
}
