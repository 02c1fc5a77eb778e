/**
 * Asks the store for what the screen shows, part by part, each at its own pace.
 *
 * When the store does not answer, only the look at the cluster goes on asking,
 * more and more seldom; the others wait until it is back.
 *
 *   asking ──no answer──▶ away (1 s, 2 s, 4 s … 15 s) ──answer──▶ asking
 */
import { isEscapementError, messageOf } from "../../base/errors.ts";
import { monotonicMs, sleep } from "../../base/monotonic.ts";
import type { Queryable } from "../../store/database.ts";
import { lookAtCluster } from "../../store/ui/cluster-look.ts";
import { latestChecklists, lookAtDrills, lookAtSize, openAlerts } from "../../store/ui/records-look.ts";
import type { Session } from "../session.ts";
import { currentView, type State, storeNow } from "../state/state.ts";
import { AheadCount } from "./ahead.ts";
import { ExecutionBook } from "./execution-book.ts";
import { JobBook } from "./job-book.ts";
import { readJobDetail } from "./job-detail.ts";
import type { PartName, Parts } from "./picture.ts";
import { ReportFile } from "./report-file.ts";
import { readShardDetail } from "./shard-detail.ts";

export interface PollerOptions {
  readonly db: Queryable;
  readonly session: Session;
  /** Run before anything is asked, and again after every loss: is this a store that we know? @throws what ends everything */
  readonly check: () => Promise<void>;
  /** Where logs of jobs are on this machine, or null. */
  readonly logDirectory: string | null;
  readonly reportFile: string | null;
  readonly onFatal: (error: unknown) => void;
}

const longestRetryMs = 15_000;
/** One connection of the store may be busy with us a tenth of the time. */
const dutyFactor = 10;
/** All jobs summed up: not after every slice. */
const publishEveryMs = 300;
const countingMs = 8;

export class Poller {
  readonly #options: PollerOptions;
  readonly #stop = new AbortController();
  readonly #jobs: JobBook;
  readonly #ahead = new AheadCount();
  #execution: ExecutionBook | undefined;
  #away = true;
  #wake = new AbortController();

  constructor(options: PollerOptions) {
    this.#options = options;
    this.#jobs = new JobBook(options.db);
  }

  start(): void {
    const { db, reportFile, session } = this.#options;
    const report = new ReportFile(reportFile, session);
    void this.#watchStore();
    void this.#loop("alerts", 2_000, () => openAlerts(db));
    void this.#loop("drills", 1_000, () => lookAtDrills(db));
    void this.#loop("report", 5_000, () => report.read());
    void this.#loop("checklists", 10_000, () => latestChecklists(db));
    void this.#loop(
      "size",
      30_000,
      () => lookAtSize(db),
      (state) => currentView(state).screen === "capacity",
    );
    void this.#loop("job", 3_000, (state) => readJobDetail(db, state));
    void this.#loop("execution", 1_000, (state) => this.#readExecution(state));
    void this.#loop("shard", 1_500, (state) => readShardDetail(db, state, this.#options.logDirectory));
    void this.#walkJobs();
    void this.#countAhead();
    let shown = currentView(this.#options.session.current());
    this.#options.session.subscribe(() => {
      const view = currentView(this.#options.session.current());
      if (view !== shown) this.nudge();
      shown = view;
    });
  }

  stop(): void {
    this.#stop.abort();
    this.nudge();
  }

  /** What waits for its turn has it now. */
  nudge(): void {
    this.#wake.abort();
    this.#wake = new AbortController();
  }

  /** The pulse: whether the store is there at all. */
  async #watchStore(): Promise<void> {
    const { db, session, check, onFatal } = this.#options;
    let retryMs = 1_000;
    while (!this.#stop.signal.aborted) {
      try {
        if (this.#away) await check();
        this.#publish("cluster", await lookAtCluster(db));
        if (this.#away) {
          this.#away = false;
          session.send({ type: "store-up" });
          this.nudge();
        }
        retryMs = 1_000;
        await sleep(1_000, this.#stop.signal);
      } catch (error) {
        if (!isAway(error)) return onFatal(error);
        this.#lost(error, retryMs);
        await sleep(retryMs, this.#stop.signal);
        retryMs = Math.min(longestRetryMs, retryMs * 2);
      }
    }
  }

  #lost(error: unknown, retryMs: number): void {
    this.#away = true;
    const nowMs = monotonicMs();
    this.#options.session.send({
      type: "store-down",
      reason: messageOf(error),
      nowMs,
      retryAtMs: nowMs + retryMs,
    });
  }

  async #loop<Name extends PartName>(
    part: Name,
    everyMs: number,
    read: (state: State) => Promise<Parts[Name] | null>,
    wanted: (state: State) => boolean = () => true,
  ): Promise<void> {
    const { session } = this.#options;
    let complained = "";
    while (!this.#stop.signal.aborted) {
      // Taken before: who opens another view in the middle of a look does not wait for the next but one.
      const wake = this.#wake.signal;
      if (!this.#away && wanted(session.current())) {
        try {
          const value = await read(session.current());
          if (value !== null && !this.#stop.signal.aborted) this.#publish(part, value);
        } catch (error) {
          // One that the store refuses (a right that this login lacks) is said once; one that was cut off is the pulse's matter.
          if (!isAway(error) && complained !== messageOf(error)) {
            complained = messageOf(error);
            session.send({
              type: "notice",
              text: `${part}: ${complained}`,
              tone: "bad",
              nowMs: monotonicMs(),
            });
          }
        }
      }
      await sleep(everyMs, wake);
    }
  }

  /** All jobs, slice after slice: without a pause the first time, then as the store can bear it. */
  async #walkJobs(): Promise<void> {
    const { session } = this.#options;
    let cycles = 0;
    let publishedMs = 0;
    while (!this.#stop.signal.aborted) {
      const now = storeNow(session.current());
      if (this.#away || !now) {
        await sleep(1_000, this.#wake.signal);
        continue;
      }
      const started = monotonicMs();
      try {
        const ended = await this.#jobs.step(now);
        if (ended) cycles += 1;
        const spentMs = monotonicMs() - started;
        if (ended || monotonicMs() - publishedMs > publishEveryMs) {
          this.#publish("jobs", this.#jobs.view(now.getTime()));
          publishedMs = monotonicMs();
        }
        if (cycles === 0) continue;
        const pauseMs = Math.max(ended ? 1_000 : 50, spentMs * dutyFactor);
        await sleep(Math.min(pauseMs, 1_000), this.#stop.signal);
      } catch (error) {
        if (!isAway(error))
          session.send({
            type: "notice",
            text: `jobs: ${messageOf(error)}`,
            tone: "bad",
            nowMs: monotonicMs(),
          });
        await sleep(1_000, this.#stop.signal);
      }
    }
  }

  /** Schedules are computed a few milliseconds at a time: keys come first. */
  async #countAhead(): Promise<void> {
    const { session } = this.#options;
    while (!this.#stop.signal.aborted) {
      const state = session.current();
      const jobs = state.picture.jobs?.value;
      const now = storeNow(state);
      const busy = jobs?.complete && now && this.#ahead.step(jobs.jobs, now.getTime(), countingMs);
      if (busy) this.#publish("ahead", this.#ahead.total(jobs.jobs));
      await sleep(busy ? countingMs * 4 : 1_000, this.#stop.signal);
    }
  }

  async #readExecution(state: State): Promise<Parts["execution"] | null> {
    const view = currentView(state);
    if (view.screen !== "execution") {
      this.#execution = undefined;
      return null;
    }
    if (this.#execution?.jobId !== view.jobId || this.#execution.fireMs !== view.fireMs)
      this.#execution = new ExecutionBook(this.#options.db, view.jobId, view.fireMs);
    const book = this.#execution;
    await book.refresh((detail) => {
      const still = currentView(this.#options.session.current());
      if (still.screen === "execution" && still.jobId === view.jobId && still.fireMs === view.fireMs)
        this.#publish("execution", detail);
    });
    return null;
  }

  #publish<Name extends PartName>(part: Name, value: Parts[Name]): void {
    const event = { type: "data", part, value, nowMs: monotonicMs() } as Parameters<Session["send"]>[0];
    this.#options.session.send(event);
  }
}

function isAway(error: unknown): boolean {
  return isEscapementError(error) && error.code === "E_STORE_UNAVAILABLE";
}
