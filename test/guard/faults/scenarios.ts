/**
 * The jobs of the fault tests: one for each function of the guard, each paying the same people.
 * The same code runs in the process that is hurt and in its successor.
 */
import pg from "pg";
import {
  type CallAttempt,
  CallNotSent,
  CallRefused,
  type Guard,
  openGuard,
} from "../../../src/guard/index.ts";

export interface JobTask {
  readonly scenario: string;
  readonly url: string;
  readonly endpoint: string;
  /** Stem of every key of this trial; carries the date. */
  readonly stem: string;
  readonly people: readonly string[];
  readonly leaseMs: number;
  /** True in the process that is hurt. */
  readonly isVictim: boolean;
}

/** complete: everything is done. again: not yet, run me again. in-doubt: a person has to look. */
export type JobEnd = "complete" | "again" | "in-doubt";

export const amount = 100;

interface Context extends JobTask {
  readonly guard: Guard;
  readonly pool: pg.Pool;
}

export const scenarios: Readonly<Record<string, (job: Context) => Promise<JobEnd>>> = {
  claim: async (job) => {
    for (const person of job.people) {
      await transaction(job, async (tx) => {
        await job.guard.claim(`${job.stem}/${person}`, tx, async () => await reward(tx, job, person));
      });
    }
    return "complete";
  },

  "claim-many": async (job) => {
    await transaction(job, async (tx) => {
      const keys = job.people.map((person) => `${job.stem}/${person}`);
      for (const key of await job.guard.claimMany(keys, tx))
        await reward(tx, job, key.slice(job.stem.length + 1));
    });
    return "complete";
  },

  "call-deduplicating": (job) => payEach(job, true),
  "call-plain": (job) => payEach(job, false),

  /** The other two answers: the first person is refused, the second's first attempt does not leave the machine. */
  "call-answers": async (job) => {
    const [refused = "", unsent = ""] = job.people;
    const no = await pay(job, refused, "refusing");
    let yes = await pay(job, unsent, "plain", ({ attempt }) => {
      if (attempt === 1) throw new CallNotSent("the cable is out");
    });
    if (yes.status === "not-sent") yes = await pay(job, unsent, "plain");
    if (no.status === "refused" && yes.status === "done") return "complete";
    return no.status === "busy" || yes.status === "busy" || yes.status === "not-sent" ? "again" : "in-doubt";
  },

  fence: async (job) => {
    // Every start is a new holder with a higher token, as a scheduler would give it.
    const { rows } = await job.pool.query<{ token: string }>(
      "SELECT nextval('attempt_token')::text AS token",
    );
    const token = rows[0]!.token;
    // Pass the fence, then read: what an older holder commits later than this, it can not commit.
    let unpaid: string[] = [];
    await transaction(job, async (tx) => {
      await job.guard.withFence(tx, { resource: job.stem, token });
      const paid = await tx.query<{ person: string }>("SELECT person FROM reward WHERE stem = $1", [
        job.stem,
      ]);
      unpaid = job.people.filter((person) => !paid.rows.some((row) => row.person === person));
    });
    for (const person of unpaid) {
      await transaction(job, async (tx) => {
        await job.guard.withFence(tx, { resource: job.stem, token });
        await reward(tx, job, person);
      });
    }
    return "complete";
  },

  "replace-version": async (job) => {
    await job.guard.replaceWhole(
      { by: "version", table: "report", versionColumn: "version" },
      { stem: job.stem },
      await figures(job),
      1,
    );
    return "complete";
  },
  "replace-partition": async (job) => {
    await job.guard.replaceWhole(
      { by: "partition", table: "report_part" },
      { partition: partitionOf(job.stem) },
      await figures(job, true),
      1,
    );
    return "complete";
  },
  "replace-table": async (job) => {
    await job.guard.replaceWhole({ by: "table", table: tableOf(job.stem) }, {}, await figures(job), 1);
    return "complete";
  },

  work: async (job) => {
    const list = job.guard.workItems(job.stem, { leaseMs: job.leaseMs, maxAttempts: 100, retryAfterMs: 50 });
    await list.add(job.people.map((person) => ({ item: person })));
    const summary = await list.work({ batch: 10 }, async (item) => {
      // Longer than a third of the lease: a renewal is among the statements.
      if (job.isVictim && item.item === job.people[0])
        await new Promise((resolve) => setTimeout(resolve, job.leaseMs * 0.4));
      await transaction(job, async (tx) => {
        await reward(tx, job, item.item);
        await item.done(tx);
      });
    });
    return summary.complete ? "complete" : "again";
  },

  "work-and-call": async (job) => {
    const list = job.guard.workItems(job.stem, { leaseMs: job.leaseMs, maxAttempts: 100, retryAfterMs: 50 });
    await list.add(job.people.map((person) => ({ item: person })));
    const summary = await list.work({ batch: 10 }, async (item) => {
      const outcome = await pay(job, item.item, "deduplicating");
      if (outcome.status !== "done") throw new Error(outcome.status);
      await item.done();
    });
    return summary.complete ? "complete" : "again";
  },

  checkpoint: async (job) => {
    const place = await job.guard.checkpoint<{ next: number }>(job.stem);
    for (let next = place.position?.next ?? 0; next < job.people.length; next++) {
      await transaction(job, async (tx) => {
        await reward(tx, job, job.people[next]!);
        await place.save(tx, { next: next + 1 });
      });
    }
    return "complete";
  },

  once: async (job) => {
    const outcome = await job.guard.once(
      {
        job: "bonus",
        period: job.stem,
        leaseMs: onceLeaseMs(job),
        blocking: "wait",
        rerunAfterCrash: true,
        rerunAfterFailure: true,
      },
      async (run) => {
        // Longer than a third of the lease: one renewal is among the statements.
        if (job.isVictim) await new Promise((resolve) => setTimeout(resolve, onceLeaseMs(job) * 0.4));
        for (const person of job.people) {
          if (!run.isHeld()) throw new Error("lost");
          const paid = await pay(job, person, "deduplicating");
          if (paid.status !== "done") throw new Error(paid.status);
        }
      },
    );
    return outcome.status === "ran" || outcome.status === "already-done" ? "complete" : "again";
  },

  /** Without a ledger: what `once` alone promises is at most one run without a person's word. */
  "once-alone": async (job) => {
    const outcome = await job.guard.once(
      { job: "bonus-alone", period: job.stem, leaseMs: onceLeaseMs(job), blocking: "wait" },
      async (run) => {
        for (const person of job.people) {
          if (!run.isHeld()) throw new Error("lost");
          await send(job, "plain", `${job.stem}/${person}`, person, run.signal);
        }
      },
    );
    if (outcome.status === "ran" || outcome.status === "already-done") return "complete";
    return outcome.status === "holder-died" || outcome.status === "failed-before" ? "in-doubt" : "again";
  },
};

/** Runs a scenario to its end, or to an error. */
export async function runJob(task: JobTask): Promise<JobEnd> {
  const pool = new pg.Pool({ connectionString: task.url, max: 3, connectionTimeoutMillis: 2_000 });
  pool.on("error", () => {});
  pool.on("connect", (client) => client.on("error", () => {}));
  try {
    return await scenarios[task.scenario]!({ ...task, pool, guard: openGuard(pool) });
  } finally {
    // Not for ever: a connection that a proxy holds back does not say goodbye.
    await Promise.race([
      pool.end().catch(() => {}),
      new Promise((resolve) => setTimeout(resolve, 500).unref()),
    ]);
  }
}

/** `once` keeps no shorter lease. */
function onceLeaseMs(job: JobTask): number {
  return Math.max(1_000, job.leaseMs);
}

async function payEach(job: Context, deduplicating: boolean): Promise<JobEnd> {
  let end: JobEnd = "complete";
  for (const person of job.people) {
    const outcome = await pay(job, person, deduplicating ? "deduplicating" : "plain");
    if (outcome.status === "done") {
      await transaction(job, async (tx) => {
        await job.guard.claim(`${job.stem}/${person}`, tx, async () => await reward(tx, job, person));
      });
    } else if (outcome.status === "in-doubt" && !deduplicating) end = end === "again" ? "again" : "in-doubt";
    else end = "again";
  }
  return end;
}

function pay(
  job: Context,
  person: string,
  path: "deduplicating" | "plain" | "refusing",
  before: (attempt: CallAttempt) => void = () => {},
) {
  const key = `${job.stem}/${person}`;
  const receiver = { name: path, deduplicating: path === "deduplicating" };
  const request = { stem: job.stem, person, amount, apiKey: "s3cret" };
  return job.guard.externalCall(key, { receiver, request, leaseMs: job.leaseMs }, async (attempt) => {
    before(attempt);
    return await send(job, path, key, person, attempt.signal);
  });
}

async function send(
  job: JobTask,
  path: string,
  key: string,
  person: string,
  signal: AbortSignal,
): Promise<unknown> {
  const response = await fetch(`${job.endpoint}/${path}`, {
    method: "POST",
    signal,
    headers: { "idempotency-key": key },
    body: JSON.stringify({ stem: job.stem, person, amount }),
  });
  if (response.status >= 400 && response.status < 500) throw new CallRefused(await response.text());
  if (!response.ok) throw new Error(`status ${response.status}`);
  return await response.json();
}

/** The act inside the database: a table without any unique index, so that a second act would show. */
async function reward(tx: pg.PoolClient, job: JobTask, person: string): Promise<{ amount: number }> {
  await tx.query("INSERT INTO reward (stem, person, amount) VALUES ($1, $2, $3)", [job.stem, person, amount]);
  return { amount };
}

async function transaction(job: Context, work: (tx: pg.PoolClient) => Promise<void>): Promise<void> {
  const client = await job.pool.connect();
  client.on("error", () => {});
  let isBroken = true;
  try {
    await client.query("BEGIN");
    await work(client);
    await client.query("COMMIT");
    isBroken = false;
  } finally {
    client.release(isBroken);
  }
}

/** Figures that tell which process made them: a mix of two would show. */
async function figures(job: Context, withStem = false): Promise<Record<string, unknown>[]> {
  const { rows } = await job.pool.query<{ token: string }>("SELECT nextval('attempt_token')::text AS token");
  return job.people.map((person) => ({
    person,
    maker: rows[0]!.token,
    ...(withStem ? { stem: job.stem } : {}),
  }));
}

export function partitionOf(stem: string): string {
  return `report_part_${stem.replace(/[^a-z0-9]/g, "_")}`;
}

export function tableOf(stem: string): string {
  return `report_${stem.replace(/[^a-z0-9]/g, "_")}`;
}
