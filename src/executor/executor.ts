/**
 * One executor process, from start to end.
 *
 *   waiting for the store ──▶ registering ──▶ active ──SIGTERM──▶ draining ──▶ stopped
 *                                  ▲             │                    │
 *                                  └── lost ◀────┴────────────────────┘ (then straight to stopped)
 *
 * Each pass through "registering" is a new incarnation. Lost: every child is
 * killed before anything else happens; what they were is judged by the store.
 */
import { randomUUID } from "node:crypto";
import { EscapementError, isEscapementError, messageOf } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import { monotonicMs, sleep } from "../base/monotonic.ts";
import { keepTimeSource } from "../hardware/time-source-loop.ts";
import type { ExecutorNode } from "../spec/cluster-definition.ts";
import { raiseAlert } from "../store/alert.ts";
import type { Database } from "../store/database.ts";
import { registerExecutor, setExecutorState } from "../store/executor.ts";
import { LeaseObserver } from "../store/lease-observer.ts";
import { checkSchema } from "../store/migrate.ts";
import { noteTimeSource } from "../store/time-source.ts";
import { AttemptRunner } from "./attempt-runner.ts";
import { ClaimLoop } from "./claim-loop.ts";
import { CompletionQueue } from "./completion-queue.ts";
import type { ExecutorCluster, ExecutorContext } from "./context.ts";
import { HoldingWatch } from "./holding-watch.ts";
import { readHostFacts } from "./host-facts.ts";
import { LeaseKeeper } from "./lease-keeper.ts";
import { ExecutorMetrics } from "./metrics.ts";
import { OutcomeWriter } from "./outcome-writer.ts";
import { Reaper } from "./reaper.ts";
import { reportHandler } from "./report-answers.ts";
import { ReportSocket } from "./report-socket.ts";

export interface ExecutorOptions {
  readonly cluster: ExecutorCluster;
  readonly node: ExecutorNode;
  readonly version: string;
  readonly db: Database;
  /** One connection, for renewals only: no slow statement may delay them. */
  readonly leaseDb: Database;
  readonly log: Log;
  readonly supervisorCommand: readonly [string, ...string[]];
}

const retryMs = { first: 200, most: 5_000 };
/** Of the grace time, kept for writing outcomes after the last SIGKILL. */
const writeReserveMs = 2_000;
/** For what is only polite, and after a second signal. */
const hastyMs = 1_000;

export class Executor {
  readonly metrics = new ExecutorMetrics();
  readonly #options: ExecutorOptions;
  readonly #context: ExecutorContext;
  readonly #completions: CompletionQueue;
  readonly #outcomes: OutcomeWriter;
  readonly #runner: AttemptRunner;
  readonly #socket: ReportSocket;
  readonly #observer = new LeaseObserver();
  #lease: LeaseKeeper | undefined;
  #claims: ClaimLoop | undefined;
  #draining = false;

  constructor(options: ExecutorOptions) {
    const { cluster, node, db, log, supervisorCommand } = options;
    this.#options = options;
    this.#context = {
      cluster,
      node,
      host: readHostFacts(),
      db,
      log,
      metrics: this.metrics,
      supervisorCommand,
      onLogTrouble: (file, reason, droppedBytes) => void this.#logTrouble(file, reason, droppedBytes),
    };
    this.#completions = new CompletionQueue(db, log);
    this.#outcomes = new OutcomeWriter(this.#context, this.#completions);
    this.#runner = new AttemptRunner(this.#context, this.#outcomes, () => this.#claims?.wake());
    this.#socket = new ReportSocket(
      this.#context.host,
      reportHandler(this.#context, this.#runner),
      log,
      cluster.executor.isolation === "scope",
    );
    this.metrics.show({
      running: () => this.#runner.counts,
      slots: node.slots,
      waitingOutcomes: () => this.#completions.length,
      trustedForMs: () => (this.#lease?.trusted ? this.#lease.trustedUntilMs - monotonicMs() : 0),
      offsetMs: () => this.#lease?.offsetMs ?? null,
    });
  }

  /** Why it is not ready to run anything, or null. */
  notReady(): string | null {
    if (this.#draining) return "draining";
    if (!this.#runner.ready) return "no supervisor";
    if (!this.#lease?.trusted) return "no lease";
    return null;
  }

  /**
   * Runs until `drain` fires and everything has ended or the grace time is over.
   * @param quit fires when even that takes too long for someone
   * @throws E_STORE_NOT_MIGRATED, E_STORE_TOO_NEW, E_STORE_DRIFTED
   */
  async run(drain: AbortSignal, quit: AbortSignal): Promise<void> {
    try {
      await this.#socket.open();
      // Side by side: a restart should cost no more than it must.
      await Promise.all([this.#waitForStore(drain), this.#runner.open(this.#socket.path)]);
      void keepTimeSource({ note: (source) => this.#noteTimeSource(source), signal: drain });
      while (!drain.aborted) await this.#live(drain, quit);
    } finally {
      this.#runner.close();
      this.#socket.close();
    }
  }

  async #noteTimeSource(source: object): Promise<boolean> {
    const { db } = this.#options;
    return this.#lease !== undefined && noteTimeSource(db, "executor", this.#lease.incarnation, source);
  }

  async #waitForStore(signal: AbortSignal): Promise<void> {
    let waitMs = retryMs.first;
    while (!signal.aborted) {
      try {
        return await checkSchema(this.#options.db);
      } catch (error) {
        if (!isEscapementError(error))
          throw new EscapementError(
            "E_UNAVAILABLE",
            {
              what: `the record store refuses us: ${messageOf(error)}`,
              hint: "check the store URL and its role",
            },
            { cause: error },
          );
        if (error.code !== "E_STORE_UNAVAILABLE") throw error;
        this.#options.log.warn({ reason: error.message, retryInMs: waitMs }, "waiting for the record store");
      }
      await sleep(waitMs, signal);
      waitMs = Math.min(retryMs.most, waitMs * 2);
    }
  }

  /** One incarnation. */
  async #live(drain: AbortSignal, quit: AbortSignal): Promise<void> {
    const lost = new AbortController();
    const lease = await this.#register(drain, lost);
    if (!lease) return;
    const ending = AbortSignal.any([drain, lost.signal]);
    const over = new AbortController();
    const claims = new ClaimLoop(this.#context, this.#runner, this.#outcomes, lease);
    this.#claims = claims;
    const loops = [
      claims.run(ending),
      new HoldingWatch(this.#context, this.#runner, this.#outcomes, lease, claims).run(over.signal),
      new Reaper(this.#context, this.#runner, lease, this.#observer).run(ending),
    ];
    await aborted(ending);
    if (drain.aborted) await this.#drain(lease, lost.signal, quit);
    else await this.#runner.settled(lease);
    over.abort();
    // A statement that hangs must hold up neither a restart nor an end; what it claims late is handed back.
    await Promise.race([Promise.all(loops), sleep(hastyMs)]);
    lease.end();
  }

  async #register(drain: AbortSignal, lost: AbortController): Promise<LeaseKeeper | undefined> {
    const { cluster, node, version, leaseDb, log } = this.#options;
    let waitMs = retryMs.first;
    while (!drain.aborted) {
      // A new one every time: the answer to an earlier try may have been lost on the way.
      const incarnation = randomUUID();
      const identity = { incarnation, node: node.name, version, ...this.#context.host };
      const sentMs = monotonicMs();
      try {
        await registerExecutor(leaseDb, identity, cluster.executor.leaseMs, node.slots);
        const lease: LeaseKeeper = new LeaseKeeper(
          incarnation,
          sentMs,
          leaseDb,
          cluster.executor,
          {
            onRenewed: () => this.#runner.grant(lease),
            onLost: (reason) => this.#loseLease(lease, reason, lost),
          },
          log,
        );
        this.#lease = lease;
        lease.start();
        log.info({ incarnation, slots: node.slots }, "executor registered");
        return lease;
      } catch (error) {
        log.warn({ reason: messageOf(error), retryInMs: waitMs }, "cannot register");
      }
      await sleep(waitMs, drain);
      waitMs = Math.min(retryMs.most, waitMs * 2);
    }
    return undefined;
  }

  #loseLease(lease: LeaseKeeper, reason: string, lost: AbortController): void {
    const running = this.#runner.attempts(lease);
    for (const attempt of running) if (!attempt.continuesFenced) this.#runner.kill(attempt, "lease-lost");
    this.metrics.leaseLosses.add();
    this.#options.log.error(
      { incarnation: lease.incarnation, reason, running: running.length },
      "lease lost; killed what ran",
    );
    lost.abort();
  }

  async #drain(lease: LeaseKeeper, lost: AbortSignal, quit: AbortSignal): Promise<void> {
    const { db, log, cluster } = this.#options;
    const { graceMs } = cluster.executor;
    const untilMs = monotonicMs() + graceMs;
    this.#draining = true;
    const killAfter = Math.max(graceMs / 2, graceMs - writeReserveMs);
    log.info({ running: this.#runner.attempts().length, graceMs, killAfterMs: killAfter }, "draining");
    this.#runner.drain(killAfter);
    // Whoever looks should see it; it decides nothing, so a failure may be ignored.
    const told = setExecutorState(db, lease.incarnation, "draining").catch(() => {});
    const settled = this.#runner.settled();
    await Promise.race([
      settled,
      sleep(untilMs - monotonicMs()),
      aborted(quit),
      lostWhenEmpty(lost, settled),
    ]);
    if (quit.aborted) {
      for (const attempt of this.#runner.attempts()) this.#runner.kill(attempt, "drain");
      await Promise.race([settled, sleep(hastyMs)]);
    }
    await Promise.race([told, sleep(hastyMs)]);
    const stopped = setExecutorState(db, lease.incarnation, "stopped").then(
      () => true,
      () => false,
    );
    const said = await Promise.race([stopped, sleep(hastyMs).then(() => false)]);
    const left = this.#runner.attempts().length;
    log.info({ left, unwritten: this.#completions.length, leaseGivenBack: said }, "executor stopped");
  }

  async #logTrouble(file: string, reason: string, droppedBytes: number): Promise<void> {
    const { log, node, db } = this.#options;
    this.metrics.logTrouble.add();
    log.warn({ file, reason, droppedBytes }, "output of attempts is dropped");
    const alert = {
      dedupKey: `log-trouble:${node.name}:${file}`,
      kind: "log-trouble",
      severity: "warning",
      message: `executor ${node.name} drops output of attempts: ${reason}`,
      details: { file, droppedBytes },
    } as const;
    await raiseAlert(db, alert).catch((error) =>
      log.warn({ reason: messageOf(error) }, "the alert about it could not be written"),
    );
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

/** With the lease lost there is nothing to give back: only the ends of the killed are waited for. */
function lostWhenEmpty(lost: AbortSignal, settled: Promise<void>): Promise<void> {
  return aborted(lost).then(() => Promise.race([settled, sleep(hastyMs)]));
}
