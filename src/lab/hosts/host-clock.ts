/**
 * A wall clock for every host: a library that systemd preloads into each unit of
 * the host reads an offset from a file. Units see a change within two seconds,
 * while they run; monotonic time stays right. What it does not reach is the
 * kernel, systemd itself (so OnCalendar timers) and logins by ssh.
 */
import { readdirSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { sleep } from "../../base/monotonic.ts";
import type { LabPlace } from "./lab-place.ts";

/** Where a host keeps its offset. */
const clockFile = "/var/lib/lab/clock";

/** The library looks at its file again after this many whole seconds. */
const cacheSeconds = 1;

/** For units that start their programs with an environment of their own making. */
const postgresEnvironmentFile = "/var/lib/lab/postgres-environment";

const postgresDropIn = [
  "[Service]",
  // Debian's start script gives PostgreSQL only what stands in a file beside its settings.
  `ExecStartPre=+/bin/cp ${postgresEnvironmentFile} /etc/postgresql/%I/environment`,
  // Debian's script changes its user while it runs, and the library then fails at what root has made.
  "ExecReload=",
  "ExecReload=/bin/kill -HUP $MAINPID",
  "",
].join("\n");

/** Paths and texts to be written into the root of a host. */
export function clockFiles(root: string): Readonly<Record<string, string>> {
  const library = readdirSync(join(root, "usr/lib"))
    .filter((name) => name.endsWith("-linux-gnu"))
    .map((name) => `/usr/lib/${name}/faketime/libfaketimeMT.so.1`)[0];
  const environment = Object.entries({
    LD_PRELOAD: library,
    FAKETIME_TIMESTAMP_FILE: clockFile,
    FAKETIME_DONT_FAKE_MONOTONIC: 1,
    FAKETIME_CACHE_DURATION: cacheSeconds,
  });
  const forManager = environment.map(([name, value]) => `${name}=${value}`).join(" ");
  const forPostgres = environment.map(([name, value]) => `${name} = '${value}'\n`).join("");
  return {
    [clockFile]: "+0\n",
    "/etc/systemd/system.conf.d/lab-clock.conf": `[Manager]\nDefaultEnvironment=${forManager}\n`,
    [postgresEnvironmentFile]: forPostgres,
    "/etc/systemd/system/postgresql@.service.d/lab-clock.conf": postgresDropIn,
  };
}

/** Moves the clock of one host; returns when every running unit must have seen it. */
export async function setHostClock(place: LabPlace, host: string, offsetSeconds: number): Promise<void> {
  const file = join(place.hostRoot(host), clockFile.slice(1));
  // Renamed into place, so that nobody reads half a number.
  writeFileSync(`${file}.new`, `${offsetSeconds < 0 ? "" : "+"}${offsetSeconds}\n`, { mode: 0o644 });
  renameSync(`${file}.new`, file);
  await sleep((cacheSeconds + 1) * 1_000 + 100);
}
