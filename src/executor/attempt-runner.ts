/**
 * Runs attempts through the supervisor and writes how they ended.
 *
 * A shard is "known" from its claim until its outcome is settled; what the
 * store says we hold and we do not know is handed back by the watch. A slot is
 * free again when the process has ended, before its outcome is written.
 */
import { join, resolve } from "node:path";
import { monotonicMs } from "../base/monotonic.ts";
import type { ResourceClass } from "../spec/job-definition.ts";
import type { ClaimedShard } from "../store/claim.ts";
import type { FencedShard } from "../store/shard-key.ts";
import { claimKey } from "../store/shard-key.ts";
import type { WorkOrder } from "../store/work-order.ts";
import { Attempt, type EndIntent } from "./attempt.ts";
import { attemptEnvironment } from "./attempt-environment.ts";
import type { CompletionQueue } from "./completion-queue.ts";
import type { ExecutorContext } from "./context.ts";
import { freezeInput } from "./freeze.ts";
import type { LeaseKeeper } from "./lease-keeper.ts";
import { killMarked, signalGroup } from "./leftovers.ts";
import { type EndAnswer, judgeEnd, oneLine, tryAgain } from "./outcome.ts";
import type { EndedEvent, SupervisorEvent } from "./supervisor/protocol.ts";
import { SupervisorLink, supervisorMark } from "./supervisor-link.ts";

/** From SIGTERM to SIGKILL of a child that timed out or was cancelled. */
export const killAfterMs = 5_000;
const classes: readonly ResourceClass[] = ["cpu", "memory", "io"];

export class AttemptRunner {
  readonly #context: ExecutorContext;
  readonly #completions: CompletionQueue;
  readonly #onChange: () => void;
  readonly #running = new Map<number, Attempt>();
  readonly #known = new Map<string, { readonly sinceMs: number }>();
  readonly #ending = new Set<Promise<void>>();
  #socket = "";
  #link: SupervisorLink | undefined;
  #draining = false;
  #closed = false;
  #lastId = 0;

  /** @param onChange called when a slot became free or the supervisor is back */
  constructor(context: ExecutorContext, completions: CompletionQueue, onChange: () => void) {
    this.#context = context;
    this.#completions = completions;
    this.#onChange = onChange;
  }

  /** @param socket path that children find in their environment */
  async open(socket: string): Promise<void> {
    this.#socket = socket;
    await this.#startSupervisor();
  }

  /** Starts nothing more; asks everything that runs to end, and kills it after `killAfter`. */
  drain(killAfter: number): void {
    this.#draining = true;
    for (const attempt of this.attempts()) this.stop(attempt, "drain", killAfter);
  }

  /** Ends the supervisor, and with it whatever still runs. */
  close(): void {
    this.#closed = true;
    this.#link?.close();
  }

  /** A supervisor is there to start children. */
  get ready(): boolean {
    return this.#link !== undefined;
  }

  /** Slots of a class that are free now. */
  freeSlots(of: ResourceClass): number {
    if (!this.ready) return 0;
    return Math.max(0, this.#context.node.slots[of] - this.runningOf(of));
  }

  runningOf(of: ResourceClass): number {
    let count = 0;
    for (const attempt of this.#running.values()) if (attempt.class === of) count += 1;
    return count;
  }

  /** What runs, by class, for people. */
  get counts(): Record<ResourceClass, number> {
    return Object.fromEntries(classes.map((one) => [one, this.runningOf(one)])) as Record<
      ResourceClass,
      number
    >;
  }

  attempts(lease?: LeaseKeeper): Attempt[] {
    const all = [...this.#running.values()];
    return lease ? all.filter((attempt) => attempt.lease === lease) : all;
  }

  /** Anything of this incarnation whose process may still live. */
  runsFor(incarnation: string): boolean {
    return this.attempts().some((attempt) => attempt.lease.incarnation === incarnation);
  }

  byCapability(capability: string): Attempt | undefined {
    return this.attempts().find((attempt) => attempt.capability === capability);
  }

  byClaim(claim: FencedShard): Attempt | undefined {
    const key = claimKey(claim);
    return this.attempts().find((attempt) => claimKey(attempt.claim) === key);
  }

  isKnown(claim: FencedShard): boolean {
    return this.#known.has(claimKey(claim));
  }

  /** Fulfils when no process of that lease (or none at all) is left, and what ended is written. */
  async settled(lease?: LeaseKeeper): Promise<void> {
    while (
      this.attempts(lease).some((attempt) => !lease || !attempt.continuesFenced) ||
      this.#ending.size > 0
    ) {
      await (this.#ending.size > 0 ? Promise.race(this.#ending) : new Promise((r) => setTimeout(r, 10)));
    }
  }

  /** Starts a claimed shard. */
  start(claim: ClaimedShard, order: WorkOrder, lease: LeaseKeeper): void {
    const attempt = new Attempt(++this.#lastId, claim, order, lease);
    this.#known.set(claimKey(claim), { sinceMs: attempt.claimedAtMs });
    const link = this.#link;
    if (!link || this.#draining || !lease.trusted) {
      void this.#write(attempt, lease, handBack("not started: the executor stops, or lost its lease"));
      return;
    }
    this.#running.set(attempt.id, attempt);
    const { definition } = attempt;
    const freeze =
      definition.shards.by === "frozen" && attempt.freezes ? definition.shards.freeze : undefined;
    const { cluster, node } = this.#context;
    const deadlineMs = attempt.deadlineMs;
    link.send({
      op: "start",
      id: attempt.id,
      command: freeze ?? definition.command,
      workingDirectory:
        definition.workingDirectory === undefined
          ? join(node.workDirectory, `${order.executionId}-${claim.shardNo}-${claim.attempt}`)
          : resolve(definition.workingDirectory),
      ownsDirectory: definition.workingDirectory === undefined,
      environment: attemptEnvironment(attempt, this.#socket, process.env),
      deadlineMs: deadlineMs === null ? null : link.toSupervisorClock(deadlineMs),
      timeoutMs: definition.timeoutMs,
      killAfterMs,
      log: {
        file: join(cluster.logs.directory, node.name, definition.namespace, `${definition.name}.log`),
        label: `${claim.fireTime.toISOString()} shard=${claim.shardNo} attempt=${claim.attempt}`,
        maxFileBytes: cluster.logs.maxFileBytes,
        keepFiles: cluster.logs.keepFiles,
      },
      capture: freeze !== undefined,
    });
  }

  /** Gives back a claim that was not started. */
  refuse(claim: ClaimedShard, lease: LeaseKeeper, answer: EndAnswer): void {
    this.#known.set(claimKey(claim), { sinceMs: monotonicMs() });
    void this.#write({ claim }, lease, answer);
  }

  /** Hands on the deadlines of a renewed lease. */
  grant(lease: LeaseKeeper): void {
    const { renewEveryMs, leaseMs, stopEarlyMs } = this.#context.cluster.executor;
    const limitMs = Math.max(renewEveryMs, (leaseMs - stopEarlyMs) / 2);
    this.#link?.grant(
      this.attempts(lease).map((attempt) => [attempt.id, attempt.deadlineMs]),
      limitMs,
    );
  }

  /** SIGTERM, and SIGKILL later. */
  stop(attempt: Attempt, intent: EndIntent, killAfter: number): void {
    if (attempt.intent) return;
    attempt.intent = intent;
    this.#link?.send({ op: "stop", id: attempt.id, killAfterMs: killAfter });
  }

  /** SIGKILL at once, also past a supervisor that does not move. */
  kill(attempt: Attempt, intent: EndIntent): void {
    attempt.intent ??= intent;
    if (attempt.pid !== undefined) signalGroup(attempt.pid, "SIGKILL");
    this.#link?.send({ op: "kill", id: attempt.id });
  }

  /** Writes a line of the child into its log. */
  note(attempt: Attempt, text: string): void {
    this.#link?.send({ op: "log", id: attempt.id, text });
  }

  async #startSupervisor(): Promise<void> {
    const { host, supervisorCommand, log } = this.#context;
    this.#link = await SupervisorLink.start(supervisorCommand, supervisorMark(host.pid, host.processStart), {
      onEvent: (event) => this.#hear(event),
      onDeath: (reason) => void this.#bury(reason),
    });
    log.debug({ supervisor: this.#link.pid }, "supervisor started");
  }

  #hear(event: SupervisorEvent): void {
    if (event.event === "log-trouble") {
      this.#context.onLogTrouble(event.file, event.reason, event.droppedBytes);
      return;
    }
    const attempt = "id" in event ? this.#running.get(event.id) : undefined;
    if (!attempt) return;
    if (event.event === "started") {
      attempt.pid = event.pid;
      // Between claim and start it may have been given up: the supervisor learnt of that after this.
      if (attempt.intent === "lease-lost" || attempt.intent === "not-held") signalGroup(event.pid, "SIGKILL");
      this.#context.metrics.startDelay.observe((monotonicMs() - attempt.claimedAtMs) / 1_000);
    } else if (event.event === "output") attempt.capture(event.text);
    else if (event.event === "ended") this.#end(attempt, event);
  }

  #end(attempt: Attempt, ended: Omit<EndedEvent, "event" | "id">): void {
    this.#running.delete(attempt.id);
    const done = this.#finish(attempt, ended).finally(() => this.#ending.delete(done));
    this.#ending.add(done);
    this.#onChange();
  }

  async #finish(attempt: Attempt, ended: Omit<EndedEvent, "event" | "id">): Promise<void> {
    if (attempt.intent === "not-held") {
      this.#known.delete(claimKey(attempt.claim));
      this.#context.log.warn(attempt.fields, "killed: the store says that the shard is not ours any more");
      return;
    }
    const { tries, maxTries } = attempt.claim;
    const { retry, timeoutMs } = attempt.definition;
    const question = { ended, intent: attempt.intent, tries, maxTries, retry, timeoutMs };
    let answer = judgeEnd(question);
    if (answer.outcome === "success" && attempt.freezes) {
      const problem = await freezeInput(this.#context.db, attempt);
      if (problem !== undefined) answer = tryAgain(question, answer.exitCode, problem);
    }
    await this.#write(attempt, attempt.lease, answer);
  }

  async #write(of: Attempt | Pick<Attempt, "claim">, lease: LeaseKeeper, answer: EndAnswer): Promise<void> {
    const { claim } = of;
    const attempt = of instanceof Attempt ? of : undefined;
    const { jobId, fireTime, shardNo, fenceToken } = claim;
    const end = { jobId, fireTime, shardNo, fenceToken, ...answer, rows: attempt?.rows ?? null };
    const mayWait = () => lease.trusted || ((attempt?.continuesFenced ?? false) && !this.#closed);
    const result = await this.#completions.write(end, lease.incarnation, mayWait);
    this.#known.delete(claimKey(claim));
    const { log, metrics } = this.#context;
    const fields = {
      ...(attempt?.fields ?? { jobId, shard: shardNo }),
      outcome: answer.outcome,
      ...(answer.exitCode === null ? {} : { exitCode: answer.exitCode }),
      ...(answer.error === null ? {} : { error: answer.error }),
    };
    if (result === "accepted") {
      metrics.ends.add(1, { outcome: answer.outcome });
      const ms = Math.round(monotonicMs() - (attempt?.claimedAtMs ?? monotonicMs()));
      log.info({ ...fields, ms }, "attempt ended");
    } else if (result === "refused") {
      metrics.refused.add(1, { kind: answer.outcome });
      log.warn(fields, "outcome refused: the claim is not held any more");
    } else {
      metrics.givenUp.add();
      log.warn(fields, "outcome not written: the store was away for too long");
    }
  }

  /** The supervisor is dead: its children die with it, and a new one is started. */
  async #bury(reason: string): Promise<void> {
    this.#link = undefined;
    if (this.#closed) return;
    const orphans = this.attempts();
    this.#context.metrics.supervisorDeaths.add();
    this.#context.log.error({ reason, running: orphans.length }, "the supervisor died; killing what it ran");
    for (const attempt of orphans) {
      attempt.intent ??= "supervisor-lost";
      if (attempt.pid !== undefined) signalGroup(attempt.pid, "SIGKILL");
    }
    const incarnations = new Set(orphans.map((attempt) => attempt.lease.incarnation));
    for (const incarnation of incarnations) {
      const { left } = await killMarked([`ESCAPEMENT_INCARNATION=${incarnation}`], 30_000);
      if (left.length > 0) this.#context.log.error({ left }, "processes that cannot be killed");
    }
    for (const attempt of orphans)
      this.#end(attempt, { code: null, signal: "SIGKILL", cause: null, error: null });
    await this.#restart();
  }

  async #restart(): Promise<void> {
    let waitMs = 100;
    while (!this.#closed && !this.#link) {
      try {
        await this.#startSupervisor();
        this.#onChange();
      } catch (error) {
        this.#context.log.error({ error }, "the supervisor cannot be started; trying again");
        await new Promise((r) => setTimeout(r, waitMs));
        waitMs = Math.min(10_000, waitMs * 2);
      }
    }
  }
}

/** Back to the others, without using up a try. */
export function handBack(why: string): EndAnswer {
  return { outcome: "interrupted", delayMs: 0, exitCode: null, error: oneLine(why) };
}
