/** The shards of one execution, kept up to date page by page: all of them at first, then as long as something may change. */
import { sleep } from "../../base/monotonic.ts";
import type { Queryable } from "../../store/database.ts";
import { type ExecutionRow, endedStatuses, findExecution } from "../../store/execution.ts";
import { type ShardLook, shardsAfter } from "../../store/ui/execution-look.ts";
import type { ExecutionDetail } from "./picture.ts";

/** Shards of one query: about a millisecond each hundred, the joins with what is live among them. */
const page = 250;
const pauseMs = 20;

export class ExecutionBook {
  readonly jobId: number;
  readonly fireMs: number;
  readonly #db: Queryable;
  #shards: ShardLook[] = [];
  /** The run whose end has been read: nothing changes before another begins. */
  #settled: string | undefined;

  constructor(db: Queryable, jobId: number, fireMs: number) {
    this.#db = db;
    this.jobId = jobId;
    this.fireMs = fireMs;
  }

  /** Reads the execution, and its shards if they may have changed; says what it knows after every few pages. */
  async refresh(publish: (detail: ExecutionDetail) => void): Promise<void> {
    const fireTime = new Date(this.fireMs);
    const execution = await findExecution(this.#db, this.jobId, fireTime);
    const state = execution ? stateOf(execution) : "none";
    if (!execution || this.#settled === state) return publish(this.#detail(execution, true));
    const first = this.#shards.length === 0;
    const fresh: ShardLook[] = [];
    for (;;) {
      const found = await shardsAfter(this.#db, this.jobId, fireTime, fresh.at(-1)?.shardNo ?? -2, page);
      fresh.push(...found);
      if (found.length < page) break;
      if (first && fresh.length % (page * 4) === 0)
        publish({ ...this.#detail(execution, false), shards: [...fresh] });
      if (!first) await sleep(pauseMs);
    }
    this.#shards = fresh;
    // What was written while the pages were read is read next time.
    this.#settled =
      endedStatuses.includes(execution.status) && fresh.every(({ status }) => status !== "running")
        ? state
        : undefined;
    publish(this.#detail(execution, true));
  }

  #detail(execution: ExecutionRow | null, complete: boolean): ExecutionDetail {
    return { jobId: this.jobId, fireMs: this.fireMs, execution, shards: this.#shards, complete };
  }
}

function stateOf({ runNo, status, actualEndTime }: ExecutionRow): string {
  return `${runNo} ${status} ${actualEndTime?.getTime() ?? ""}`;
}
