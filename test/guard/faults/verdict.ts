/** What must be true after every trial: each person paid once, or named. Nobody twice, nobody silently not at all. */
import { expect } from "vitest";
import type { FaultLab } from "./fault-lab.ts";
import { amount, type JobEnd, type JobTask, partitionOf, tableOf } from "./scenarios.ts";

/** How often each person was paid in the database. */
async function rewards(lab: FaultLab, task: JobTask): Promise<Record<string, number>> {
  const { rows } = await lab.db.query<{ person: string; total: string }>(
    "SELECT person, sum(amount) AS total FROM reward WHERE stem = $1 GROUP BY person",
    [task.stem],
  );
  return Object.fromEntries(rows.map((row) => [row.person, Number(row.total) / amount]));
}

const onceEach = (task: JobTask) => Object.fromEntries(task.people.map((person) => [person, 1]));

function payments(lab: FaultLab, task: JobTask): Record<string, number> {
  return Object.fromEntries(task.people.map((person) => [person, lab.endpoint.of(task.stem, person).length]));
}

async function inDoubt(lab: FaultLab, task: JobTask): Promise<string[]> {
  await lab.db.query("SELECT escapement_guard.call_sweep()");
  const { rows } = await lab.db.query<{ key: string }>(
    "SELECT key FROM escapement_guard.external_call WHERE key LIKE $1 AND state = 'in-doubt' ORDER BY key",
    [`${task.stem}/%`],
  );
  return rows.map((row) => row.key.slice(task.stem.length + 1));
}

/** A person reads the endpoint's log and settles what is in doubt. */
async function settleByLog(lab: FaultLab, task: JobTask): Promise<void> {
  for (const person of await inDoubt(lab, task)) {
    const to = lab.endpoint.of(task.stem, person).length > 0 ? "done" : "ready";
    await lab.db.query("SELECT escapement_guard.call_settle($1, $2, 'test', 'the log says so')", [
      `${task.stem}/${person}`,
      to,
    ]);
  }
}

type Verdict = (lab: FaultLab, task: JobTask, end: JobEnd, again: () => Promise<JobEnd>) => Promise<void>;

const paidInDatabase: Verdict = async (lab, task, end) => {
  expect(end).toBe("complete");
  expect(await rewards(lab, task)).toEqual(onceEach(task));
};

const paidByCall: Verdict = async (lab, task, end) => {
  expect(end).toBe("complete");
  expect(payments(lab, task)).toEqual(onceEach(task));
  expect(await inDoubt(lab, task)).toEqual([]);
};

/** Whole, and of the run that began last: whoever was frozen must not bring old figures back. */
const replaced: Verdict = async (lab, task, end) => {
  expect(end).toBe("complete");
  await expectWhole(lab, task);
  const { rows } = await lab.db.query(
    `SELECT l.version = max(r.version) AS newest FROM escapement_guard.live_version l
       JOIN escapement_guard.replacement r USING (target, scope)
      WHERE l.scope::text LIKE $1 OR l.target = $2 GROUP BY l.version`,
    [
      `%${task.scenario === "replace-version" ? task.stem : partitionOf(task.stem)}"}`,
      `public.${tableOf(task.stem)}`,
    ],
  );
  expect(rows).toEqual([{ newest: true }]);
};

export const verdicts: Readonly<Record<string, Verdict>> = {
  claim: paidInDatabase,
  "claim-many": paidInDatabase,
  fence: paidInDatabase,
  checkpoint: paidInDatabase,
  work: async (lab, task, end, again) => {
    await paidInDatabase(lab, task, end, again);
    const { rows } = await lab.db.query(
      "SELECT done::int, failed::int FROM escapement_guard.work_count($1)",
      [task.stem],
    );
    expect(rows).toEqual([{ done: task.people.length, failed: 0 }]);
  },
  "work-and-call": paidByCall,
  once: paidByCall,
  "call-deduplicating": async (lab, task, end, again) => {
    await paidByCall(lab, task, end, again);
    expect(await rewards(lab, task)).toEqual(onceEach(task));
  },
  "call-plain": async (lab, task, end, again) => {
    const doubtful = await inDoubt(lab, task);
    for (const [person, times] of Object.entries(payments(lab, task))) {
      expect(times, `${person} was paid ${times} times`).toBeLessThanOrEqual(1);
      if (times === 0) expect(doubtful, `${person} was not paid and nobody is told`).toContain(person);
    }
    // A frozen caller that woke up has told what it knew, and the doubt its successor saw is over.
    if (end === "complete") expect(doubtful).toEqual([]);
    await settleByLog(lab, task);
    expect(await again()).toBe("complete");
    expect(payments(lab, task)).toEqual(onceEach(task));
  },
  "call-answers": async (lab, task, _, again) => {
    const [refused = "", unsent = ""] = task.people;
    const named = await inDoubt(lab, task);
    const paid = payments(lab, task);
    expect(paid[refused]).toBe(0);
    expect(paid[unsent], `${unsent} was paid ${paid[unsent]} times`).toBeLessThanOrEqual(1);
    if (paid[unsent] === 0) expect(named, `${unsent} was not paid and nobody is told`).toContain(unsent);
    await settleByLog(lab, task);
    expect(await again()).toBe("complete");
    expect(payments(lab, task)).toEqual({ [refused]: 0, [unsent]: 1 });
  },
  "once-alone": async (lab, task, end, again) => {
    const paid = payments(lab, task);
    for (const [person, times] of Object.entries(paid))
      expect(times, `${person} was paid ${times} times`).toBeLessThanOrEqual(1);
    // Not everybody paid: then the run is listed for a person to look at.
    if (end === "complete") return expect(paid).toEqual(onceEach(task));
    const { rows } = await lab.db.query<{ state: string }>(
      "SELECT state FROM escapement_guard.once_run WHERE job = 'bonus-alone' AND slot = $1",
      [task.stem],
    );
    // A frozen holder that woke up before anyone took over has told how it ended.
    if (rows[0]?.state === "done") return expect(paid).toEqual(onceEach(task));
    if (rows[0]?.state === "ready") {
      // Or has found its grant too old to begin with, and has given it back.
      expect(await again()).toBe("complete");
      return expect(payments(lab, task)).toEqual(onceEach(task));
    }
    expect(["running", "failed", "interrupted"]).toContain(rows[0]?.state);
  },
  "replace-version": replaced,
  "replace-partition": replaced,
  "replace-table": replaced,
};

/** A reader sees one maker's figures, all of them, at any moment. */
export async function expectWhole(lab: FaultLab, task: JobTask): Promise<void> {
  const from: Record<string, string> = {
    "replace-version": `report_live WHERE stem = '${task.stem}'`,
    "replace-partition": `report_part WHERE stem = '${task.stem}'`,
    "replace-table": tableOf(task.stem),
  };
  if (!(task.scenario in from)) return;
  const { rows } = await lab.db.query<{ people: string[]; makers: number }>(
    `SELECT array_agg(person ORDER BY person) AS people, count(DISTINCT maker)::int AS makers FROM ${from[task.scenario]}`,
  );
  expect(rows[0]).toEqual({ people: [...task.people], makers: 1 });
}
