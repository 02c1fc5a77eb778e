/** Values written down by hand, so that a parser that calls everything unknown fails. */
import { expect } from "vitest";
import { diskOutputs } from "../cases/hardware/disk-outputs.ts";
import { type Expectation, known, some, testOutputs } from "./saved-outputs.ts";

const expected: Readonly<Record<string, Expectation>> = {
  "smartctl: a disk that says it fails": [
    some({
      device: known("/dev/sdc"),
      media: known("hdd"),
      sizeBytes: known(4_000_787_030_016),
      health: some({
        passed: known(false),
        powerOnHours: known(41_000),
        problems: known([
          "the drive says of itself that it fails",
          "Reallocated_Sector_Ct is at 4, its threshold is 10",
          "3120 sectors moved to spares (Reallocated_Sector_Ct)",
          "8 sectors waiting to be moved (Current_Pending_Sector)",
        ]),
      }),
    }),
    ["disk-failing critical"],
  ],
  "smartctl: an SSD whose capacitors failed their test": [
    some({ media: known("ssd"), powerLossProtection: known(false) }),
    ["ssd-without-power-loss-protection warning"],
  ],
  "smartctl text: pending sectors in the last row": [
    some({
      model: known("EXAMPLE SSD 480"),
      sizeBytes: known(480_103_981_056),
      media: known("ssd"),
      powerLossProtection: known(true),
      writeCacheEnabled: known(true),
      health: some({
        passed: known(true),
        problems: known(["2 sectors waiting to be moved (Current_Pending_Sector)"]),
      }),
    }),
    ["disk-failing warning"],
  ],
  "nvme id-ctrl: a cache that needs power": [
    some({ document: known("id-ctrl"), model: known("EXAMPLE NVME 1TB"), volatileWriteCache: known(true) }),
    ["disk-failing unknown", "ssd-without-power-loss-protection unknown"],
  ],
  "nvme smart-log: values as text, media errors": [
    some({
      health: {
        passed: known(false),
        percentUsed: known(101),
        powerOnHours: known(24_424),
        problems: known([
          "the drive says of itself that it fails",
          "critical warning 0x04",
          "17 media errors",
          "3 % spare blocks left, the threshold is 5 %",
          "101 % of its rated life used",
        ]),
      },
    }),
    ["disk-failing critical", "ssd-without-power-loss-protection unknown"],
  ],
  "nvme ocp text: capacitors as they should be": [
    some({
      document: known("ocp smart-add-log"),
      ocp: {
        capacitorPercent: known(121),
        powerLossProtection: known(true),
        systemPercentUsed: known(2),
        powerLosses: known(31),
        problems: known([]),
      },
    }),
    // Its smart-log says whether it is well.
    ["disk-failing unknown"],
  ],
  "nvme ocp text: a drive without capacitors": [
    some({
      ocp: some({
        capacitorPercent: { unknown: "the drive says that it has no capacitors" },
        powerLossProtection: known(false),
        problems: known([]),
      }),
    }),
    ["disk-failing unknown", "ssd-without-power-loss-protection warning"],
  ],
  "nvme ocp text: capacitors printed as no number": [
    some({
      ocp: some({
        capacitorPercent: { unknown: "nvme ocp does not print it" },
        powerLossProtection: { unknown: "nvme ocp does not print it" },
        powerLosses: known(31),
        problems: { unknown: "nvme ocp does not print it" },
      }),
    }),
    ["disk-failing unknown", "ssd-without-power-loss-protection unknown"],
  ],
  "nvme ocp text: the same page with another identifier": [
    some({
      document: known("ocp smart-add-log"),
      ocp: some({
        capacitorPercent: { unknown: "nvme ocp: the page does not carry the identifier of OCP" },
        powerLossProtection: { unknown: "nvme ocp: the page does not carry the identifier of OCP" },
      }),
    }),
    ["disk-failing unknown", "ssd-without-power-loss-protection unknown"],
  ],
  "nvme ocp text with colons: capacitors that hold too little": [
    some({
      ocp: {
        capacitorPercent: known(0),
        powerLossProtection: known(false),
        systemPercentUsed: known(104),
        powerLosses: known(7),
        problems: known([
          "the capacitors hold less than a stop without loss takes",
          "3 reads that nothing could correct",
          "2 stops at which not everything was saved",
          "104 % of the rated life of its own area used",
        ]),
      },
    }),
    ["disk-failing warning", "ssd-without-power-loss-protection warning"],
  ],
  "nvme ocp JSON: names with blanks": [
    some({
      document: known("ocp smart-add-log"),
      ocp: {
        capacitorPercent: known(100),
        powerLossProtection: known(true),
        systemPercentUsed: known(1),
        powerLosses: known(2),
        problems: known([]),
      },
    }),
    ["disk-failing unknown"],
  ],
  "nvme ocp JSON: names with underscores, stops that saved not everything": [
    some({
      ocp: {
        capacitorPercent: known(97),
        powerLossProtection: known(true),
        systemPercentUsed: known(12),
        powerLosses: known(19),
        problems: known(["4 stops at which not everything was saved"]),
      },
    }),
    ["disk-failing warning"],
  ],
  "lsblk: new types, a mount below a volume": [
    known([
      some({ name: "vg-data", type: "lvm", mountPoints: ["/var/lib/postgresql"] }),
      some({ name: "sda", rotational: known(false), mountPoints: ["/boot", "/var/lib/postgresql"] }),
      some({ name: "sda1", mountPoints: ["/boot"] }),
      some({ name: "sda2", mountPoints: ["/var/lib/postgresql"] }),
    ]),
    [],
  ],
  "lsblk: old types": [
    known([
      {
        name: "sdb",
        type: "disk",
        sizeBytes: known(4_000_787_030_016),
        rotational: known(true),
        model: known("EXAMPLE HDD"),
        transport: { unknown: expect.any(String) },
        mountPoints: ["/data"],
      },
    ]),
    [],
  ],
  "lsblk -P": [
    known([
      some({
        name: "nvme0n1",
        model: known("EXAMPLE NVME"),
        rotational: known(false),
        mountPoints: ["/srv"],
      }),
      some({ name: "nvme0n1p1", mountPoints: ["/srv"] }),
    ]),
    [],
  ],
};

testOutputs(diskOutputs, expected);
