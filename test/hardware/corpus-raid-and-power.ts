/** What a person reads in real outputs about RAID controllers and power supplies. */
import { expect } from "vitest";
import { type CorpusCase, known } from "./corpus-case.ts";

export const raidAndPowerCases: readonly CorpusCase[] = [
  {
    file: "raid/storcli-cachevault.json",
    kind: "storcli",
    facts: known([
      expect.objectContaining({
        model: known("PRAID EP420i"),
        isHealthy: known(true),
        cacheBytes: known(2048 * 1024 ** 2),
        backup: known("capacitor"),
        backupIsGood: known(true),
        backupState: known("Optimal"),
        nextLearn: known("06/03/2023, 10:00:00"),
        cachesWithoutBackup: known(false),
        volumes: known([
          { name: "0/0", level: known("RAID6"), isHealthy: known(true), cachePolicy: known("write back") },
        ]),
      }),
    ]),
    verdicts: { "raid-cache-unprotected": "good", "raid-backup-bad": "good", "raid-degraded": "good" },
  },
  {
    file: "raid/storcli-megaraid-bbu.json",
    kind: "storcli",
    facts: known([
      expect.objectContaining({
        model: known("ServeRAID M5015 SAS/SATA Controller"),
        cacheBytes: known(512 * 1024 ** 2),
        backup: known("battery"),
        backupIsGood: known(true),
        nextLearn: known("2024/04/18 18:32:56"),
        cachesWithoutBackup: known(false),
        volumes: known([expect.objectContaining({ name: "Sluthub", cachePolicy: known("write back") })]),
      }),
    ]),
    verdicts: { "raid-cache-unprotected": "good", "raid-backup-bad": "good", "raid-degraded": "good" },
  },
  { file: "raid/perccli-no-controller.json", kind: "perccli", facts: known([]), verdicts: {} },
  {
    file: "raid/ssacli-P408i-a.txt",
    kind: "ssacli",
    facts: expect.objectContaining({
      seen: [
        expect.objectContaining({
          model: known("HPE Smart Array P408i-a SR Gen10"),
          isHealthy: known(true),
          cacheBytes: known(2 * 1024 ** 3),
          backup: known("battery"),
          backupIsGood: known(true),
          cachesWithoutBackup: known(true),
          volumes: expect.objectContaining({
            seen: [
              {
                name: "1",
                level: known("6"),
                isHealthy: known(true),
                cachePolicy: known("always write back"),
              },
            ],
          }),
        }),
      ],
    }),
    verdicts: {
      "raid-cache-unprotected": "bad critical",
      "raid-backup-bad": "unknown",
      "raid-degraded": "unknown",
    },
  },
  {
    file: "raid/megacli-bbu-recent.txt",
    kind: "megacli",
    facts: known([
      expect.objectContaining({
        backup: known("battery"),
        backupIsGood: known(true),
        backupState: known("Optimal"),
        nextLearn: known("Thu Dec 21 18:32:56 2023"),
        cachesWithoutBackup: { unknown: expect.stringContaining("-LDInfo") },
      }),
    ]),
    verdicts: { "raid-cache-unprotected": "unknown", "raid-backup-bad": "good", "raid-degraded": "unknown" },
  },
  {
    file: "psu/ipmitool-sdr-ps.txt",
    kind: "ipmitool-sdr",
    facts: expect.objectContaining({
      redundancyStated: known("Fully Redundant"),
      supplies: expect.objectContaining({
        seen: [
          expect.objectContaining({ name: "Status 10.1", isPresent: known(true), hasInput: known(true) }),
          expect.objectContaining({ name: "Status 10.2", isPresent: known(true), hasInput: known(true) }),
        ],
      }),
    }),
    verdicts: {
      "single-power-supply": "good",
      "power-feed-lost": "unknown",
      "power-supply-failed": "unknown",
      "power-not-redundant": "unknown",
    },
  },
  {
    file: "psu/ipmitool-sdr-hp.txt",
    kind: "ipmitool-sdr",
    facts: expect.objectContaining({
      redundancyStated: { unknown: expect.any(String) },
      supplies: expect.objectContaining({
        seen: [
          expect.objectContaining({ name: "Power Supply 1", isPresent: known(true) }),
          expect.objectContaining({ name: "Power Supply 2", isPresent: known(true) }),
        ],
      }),
    }),
    verdicts: {
      "single-power-supply": "good",
      "power-feed-lost": "unknown",
      "power-supply-failed": "unknown",
      "power-not-redundant": "unknown",
    },
  },
  {
    file: "psu/dmidecode-type39.txt",
    kind: "dmidecode",
    facts: expect.objectContaining({
      ecc: { unknown: expect.any(String) },
      // Nothing ends this output, so a third supply may have been cut off.
      power: expect.objectContaining({
        supplies: expect.objectContaining({
          seen: [
            expect.objectContaining({ isPresent: known(true), capacityWatts: known(1400) }),
            expect.objectContaining({ isPresent: known(true), capacityWatts: known(1400) }),
          ],
        }),
      }),
    }),
    verdicts: {
      "memory-without-ecc": "unknown",
      "memory-below-rated-speed": "unknown",
      "memory-unbalanced": "unknown",
      "single-power-supply": "good",
      "power-supply-failed": "unknown",
    },
  },
  {
    file: "psu/redfish-dell-power.json",
    kind: "redfish-power",
    facts: expect.objectContaining({
      supplies: known([
        {
          name: "PSU.Slot.1",
          isPresent: known(true),
          hasInput: known(true),
          isHealthy: known(true),
          capacityWatts: known(750),
        },
      ]),
      redundancyStated: { unknown: expect.any(String) },
      peakWatts: known(436),
    }),
    verdicts: {
      "single-power-supply": "bad warning",
      "power-feed-lost": "good",
      "power-supply-failed": "good",
      "power-not-redundant": "unknown",
    },
  },
];
