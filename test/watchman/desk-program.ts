/**
 * A watchman that finds one thing and delivers it, as a process that can be
 * killed: `node PROGRAM STORE_URL WATCH_FILE PASSES`.
 */
import { openLog } from "../../src/base/log.ts";
import { sleep } from "../../src/base/monotonic.ts";
import { Database } from "../../src/store/database.ts";
import { AlertDesk } from "../../src/watchman/alert-desk.ts";
import type { Picture } from "../../src/watchman/picture.ts";
import { readWatchFile } from "../../src/watchman/watch-file.ts";

const [, , url = "", file = "", passes = "1"] = process.argv;
const { watch } = await readWatchFile(file);
if (!watch) throw new Error("the watch file is wrong");
const db = new Database(url, { maxConnections: 4, connectTimeoutMs: 1_000 });
const who = { node: "w1", host: "test", pid: process.pid, version: "0" };
const desk = await AlertDesk.open({ watch, db, who, log: openLog("desk") });
for (let i = 0; i < Number(passes); i++) {
  const now = await db.query<{ now: Date }>("SELECT clock_timestamp() AS now").catch(() => undefined);
  const picture = now ? ({ now: now.rows[0]!.now } as Picture) : null;
  const rule = picture ? "late-start" : "store-unreachable";
  await desk.present(
    [{ rule, key: rule, severity: "critical", message: "It is so.", evidence: {}, hint: "look" }],
    picture,
  );
  await sleep(50);
}
await desk.close();
await db.end();
