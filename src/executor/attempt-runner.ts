/**
 * Runs attempts through the supervisor. A slot is free again when the process
 * has ended, before its outcome is written.
 */
import { monotonicMs } from "../base/monotonic.ts";
import type { ResourceClass } from "../spec/job-definition.ts";
import type { ClaimedShard } from "../store/claim.ts";
import type { WorkOrder } from "../store/work-order.ts";
import { Attempt, type EndIntent } from "./attempt.ts";
import type { ExecutorContext } from "./context.ts";
import { freezeInput } from "./freeze.ts";
import { endScopes } from "./job-scope.ts";
import type { LeaseKeeper } from "./lease-keeper.ts";
import { killMarked, signalGroup } from "./leftovers.ts";
import { handBack, handOn, judgeEnd, tryAgain } from "./outcome.ts";
import type { OutcomeWriter } from "./outcome-writer.ts";
import { killAfterMs, startCommand } from "./start-command.ts";
import type { EndedEvent, SupervisorEvent } from "./supervisor/protocol.ts";
import { SupervisorLink, supervisorMark } from "./supervisor-link.ts";

const classes: readonly ResourceClass[] = ["cpu", "memory", "io", "control"];

export class AttemptRunner {
  readonly #context: ExecutorContext;
  readonly #outcomes: OutcomeWriter;
  readonly #onChange: () => void;
  readonly #running = new Map<number, Attempt>();
  readonly #ending = new Set<Promise<void>>();
  #socket = "";
  #link: SupervisorLink | undefined;
  #draining = false;
  #closed = false;
  #lastId = 0;

  /** @param onChange called when a slot became free or the supervisor is back */
  constructor(context: ExecutorContext, outcomes: OutcomeWriter, onChange: () => void) {
    this.#context = context;
    this.#outcomes = outcomes;
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
    this.#outcomes.expect(claim);
    const link = this.#link;
    if (!link || this.#draining || !lease.trusted) {
      void this.#outcomes.write(claim, lease, handBack("not started: the executor stops, or lost its lease"));
      return;
    }
    const { runAs } = attempt.definition;
    if (runAs !== undefined && this.#context.cluster.executor.isolation === "none") {
      const why = `the job runs as ${runAs}, and this cluster has no executor.isolation: scope`;
      void this.#outcomes.write(claim, lease, handOn(why));
      return;
    }
    this.#running.set(attempt.id, attempt);
    link.send(
      startCommand(this.#context, attempt, this.#socket, (instantMs) => link.toSupervisorClock(instantMs)),
    );
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
  stop(attempt: Attempt, intent: EndIntent, killAfter = killAfterMs): void {
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
    const link = await SupervisorLink.start(supervisorCommand, supervisorMark(host.pid, host.processStart), {
      onEvent: (event) => this.#hear(event),
      onDeath: (reason) => void this.#bury(reason),
    });
    if (this.#closed) return link.close();
    this.#link = link;
    log.debug({ supervisor: link.pid }, "supervisor started");
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
      this.#outcomes.forget(attempt.claim);
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
    await this.#outcomes.write(attempt.claim, attempt.lease, answer, attempt);
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
      if (this.#context.cluster.executor.isolation === "scope") await endScopes(incarnation, 30_000);
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
