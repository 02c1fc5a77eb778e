/**
 * The history of a run that came to no judgement: the fires that had ended by then. Of one that is on,
 * records and witness tell different moments. It says that the cluster was not at rest, so whoever
 * judges it again learns nothing but what was seen to be wrong.
 */
import { messageOf } from "../../base/errors.ts";
import { sleep } from "../../base/monotonic.ts";
import { type DrillRecords, readDrillRecords, recordedJobs } from "../../store/drill/drill-records.ts";
import { probeNamespace } from "../../store/drill/drill-sample.ts";
import { fireKey, type History } from "../history.ts";
import { collectHistory } from "./collect-history.ts";
import type { DrillCourse } from "./drill-course.ts";
import type { DrillLoad } from "./drill-load.ts";
import { recordedFault } from "./recorded-fault.ts";

/** For all reads together. */
const mostMs = 15_000;

/**
 * Never throws, and never takes long: a person may be waiting, and the store may be what is away.
 * @returns null where the records cannot be read, or not in time
 */
export async function earlyHistory(
  course: DrillCourse,
  load: DrillLoad,
  withinMs = mostMs,
): Promise<History | null> {
  const over = new AbortController();
  const tooLate = async () => {
    await sleep(withinMs, over.signal);
    throw new Error(`the record store did not tell it within ${withinMs / 1_000} s`);
  };
  const late = tooLate();
  late.catch(() => {});
  try {
    return await Promise.race([readHistory(course, load), late]);
  } catch (error) {
    course.log.say(`no history of it: ${messageOf(error)}`);
    return null;
  } finally {
    over.abort();
  }
}

async function readHistory(course: DrillCourse, load: DrillLoad): Promise<History> {
  const { options, notes, book, startedAt } = course;
  const { db, definition, variant } = options;
  const probes = await recordedJobs(db, probeNamespace, false, startedAt);
  const ids = probes.map(({ jobId }) => jobId);
  const records = await readDrillRecords(db, ids, startedAt, null);
  const done = endedFires(records);
  const isDone = ({ job, fireTime }: Fire) => done.has(keyOf(job, fireTime));
  const { effects, refusals, sightings } = load.witness;
  const witness = {
    effects: effects.filter(isDone),
    refusals: refusals.filter(isDone),
    sightings: sightings.filter(isDone),
  };
  const missing = book?.missing(notes.asked, variant.fault.kind, notes.fault?.restoredAtMs ?? null);
  const { history } = await collectHistory({
    ...{ db, definition, variant, witness, probes, startedAt },
    records: {
      ...records,
      executions: records.executions.filter(isDone),
      attempts: records.attempts.filter(isDone),
    },
    settled: false,
    fault: recordedFault(course, missing?.length === 0),
    struck: [...load.struck],
  });
  const obligations = history.obligations.filter((one) => one.recordsOnly || isDone(one));
  return { ...history, obligations };
}

interface Fire {
  readonly job: string;
  readonly fireTime: string | Date;
}

function endedFires({ executions }: DrillRecords): ReadonlySet<string> {
  const ended = executions.filter(({ status }) => status === "success" || status === "failed");
  return new Set(ended.map(({ job, fireTime }) => keyOf(job, fireTime)));
}

function keyOf(job: string, fireTime: string | Date): string {
  return fireKey({ job, fireTime: typeof fireTime === "string" ? fireTime : fireTime.toISOString() });
}
