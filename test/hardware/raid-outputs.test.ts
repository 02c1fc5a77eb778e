/** Values written down by hand, so that a parser that calls everything unknown fails. */
import { raidOutputs } from "../cases/hardware/raid-outputs.ts";
import { type Expectation, GiB, known, some, testOutputs } from "./saved-outputs.ts";

const expected: Readonly<Record<string, Expectation>> = {
  "storcli: one volume of two caches even with a bad battery": [
    known([
      some({
        model: known("Example 9361"),
        cacheBytes: known(GiB),
        backup: known("capacitor"),
        backupIsGood: known(true),
        cachesWithoutBackup: known(true),
        volumes: known([
          some({ name: "vol0", cachePolicy: known("write back") }),
          some({ name: "vol1", cachePolicy: known("always write back") }),
        ]),
      }),
    ]),
    ["raid-cache-unprotected critical"],
  ],
  "storcli: battery failed, volume degraded": [
    known([
      some({
        isHealthy: known(false),
        backup: known("battery"),
        backupIsGood: known(false),
        backupState: known("Failed"),
        nextLearn: known("2027/01/02 03:04:05"),
      }),
    ]),
    ["raid-degraded critical", "raid-backup-bad warning"],
  ],
  "perccli: capacitor as property and value, mask of another name": [
    known([
      some({
        tool: "perccli",
        backup: known("capacitor"),
        backupIsGood: known(true),
        backupState: known("Optimal"),
        volumes: known([some({ cachePolicy: known("write through") })]),
      }),
    ]),
    [],
  ],
  "storcli: a plain adapter without cache": [
    known([some({ cacheBytes: known(0), isHealthy: known(true), volumes: known([]) })]),
    [],
  ],
  "ssacli: as it should be": [
    known([
      some({
        model: known("Smart Array P440ar"),
        cacheBytes: known(2 * GiB),
        backup: known("battery"),
        backupIsGood: known(true),
        cachesWithoutBackup: known(false),
        volumes: known([
          { name: "1", level: known("1"), isHealthy: known(true), cachePolicy: known("write back") },
        ]),
      }),
    ]),
    [],
  ],
  "ssacli: bad battery, cache kept on": [
    known([some({ backupIsGood: known(false), cachesWithoutBackup: known(true) })]),
    ["raid-cache-unprotected critical", "raid-backup-bad critical", "raid-degraded critical"],
  ],
  "megacli: write back without a battery allowed": [
    known([
      some({
        backup: known("battery"),
        backupIsGood: known(true),
        nextLearn: known("Sun Mar  7 03:00:00 2027"),
        volumes: known([some({ name: "system", cachePolicy: known("always write back") })]),
      }),
    ]),
    ["raid-cache-unprotected critical"],
  ],
  "megacli: battery to be replaced": [
    known([some({ backupIsGood: known(false), cachesWithoutBackup: known(false) })]),
    ["raid-backup-bad warning"],
  ],
  "arcconf: as it should be": [
    known([
      some({
        model: known("Example 8405"),
        isHealthy: known(true),
        cacheBytes: known(GiB),
        backup: known("capacitor"),
        backupIsGood: known(true),
        volumes: known([
          { name: "data", level: known("1"), isHealthy: known(true), cachePolicy: known("write back") },
        ]),
      }),
    ]),
    [],
  ],
  "arcconf: cache always on": [
    known([some({ backup: known("none"), backupIsGood: known(false), cachesWithoutBackup: known(true) })]),
    ["raid-cache-unprotected critical", "raid-backup-bad critical"],
  ],
};

testOutputs(raidOutputs, expected);
