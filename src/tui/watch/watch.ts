/** Looks at the store again and again and writes lines. No terminal is needed, and no library of one. */

import { isEscapementError, messageOf } from "../../base/errors.ts";
import { formatInstant } from "../../base/instant.ts";
import { sleep } from "../../base/monotonic.ts";
import type { Queryable } from "../../store/database.ts";
import { lookAtCluster } from "../../store/ui/cluster-look.ts";
import { lookAtDrills, openAlerts } from "../../store/ui/records-look.ts";
import { JobBook } from "../data/job-book.ts";
import { newsOf, summaryLine, type WatchPicture } from "./watch-lines.ts";

export interface WatchOptions {
  readonly db: Queryable;
  readonly everyMs: number;
  /** Look once. */
  readonly once: boolean;
  readonly signal: AbortSignal;
  readonly print: (line: string) => void;
  /** For programs: the picture instead of lines. */
  readonly onPicture?: (picture: WatchPicture) => void;
  /** For programs, too: a look that failed while the store was away, instead of a line. */
  readonly onAway?: (error: unknown) => void;
}

/**
 * @returns the last picture
 * @throws what the store throws, at the first look or with `once`; later ones that fail are a line
 */
export async function watch(options: WatchOptions): Promise<WatchPicture | undefined> {
  const { db, everyMs, once, signal, print, onPicture, onAway } = options;
  const book = new JobBook(db);
  let known: ReadonlyMap<string, string> | undefined;
  let picture: WatchPicture | undefined;
  while (!signal.aborted) {
    try {
      picture = await look(db, book);
      if (onPicture) onPicture(picture);
      else {
        const news = newsOf(picture);
        for (const [key, text] of news)
          if (!known?.has(key)) print(`${formatInstant(picture.cluster.now)}  ${text}`);
        print(summaryLine(picture));
        known = news;
      }
    } catch (error) {
      const away = isEscapementError(error) && error.code === "E_STORE_UNAVAILABLE";
      if (once || !picture || !away) throw error;
      if (onAway) onAway(error);
      else print(`${new Date().toISOString()} (this machine's clock)  STORE AWAY  ${messageOf(error)}`);
    }
    if (once) break;
    await sleep(everyMs, signal);
  }
  return picture;
}

async function look(db: Queryable, book: JobBook): Promise<WatchPicture> {
  const cluster = await lookAtCluster(db);
  while (!(await book.step(cluster.now))) {
    // The next slice.
  }
  const [alerts, drills] = [await openAlerts(db), await lookAtDrills(db)];
  return { cluster, jobs: book.view(cluster.now.getTime()), alerts, drills };
}
