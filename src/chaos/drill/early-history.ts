/**
 * The history of a run that came to no judgement: the fires that had ended by then. Of one that is on,
 * records and witness tell different moments. It says that the cluster was not at rest, so whoever
 * judges it again learns nothing but what was seen to be wrong.
 */
import { messageOf } from "../../base/errors.ts";
import { type DrillRecords, readDrillRecords, recordedJobs } from "../../store/drill/drill-records.ts";
import { probeNamespace } from "../../store/drill/drill-sample.ts";
import { fireKey, type History } from "../history.ts";
import { collectHistory } from "./collect-history.ts";
import type { DrillCourse } from "./drill-course.ts";
import type { DrillLoad } from "./drill-load.ts";
import { recordedFault } from "./recorded-fault.ts";

/** Never throws: a person may be waiting, and the store may be what is away. @returns null where the records cannot be read */
export async function earlyHistory(course: DrillCourse, load: DrillLoad): Promise<History | null> {
  const { options, notes, book, startedAt } = course;
  const { db, definition, variant } = options;
  try {
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
  } catch (error) {
    course.log.say(`no history of it: ${messageOf(error)}`);
    return null;
  }
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
