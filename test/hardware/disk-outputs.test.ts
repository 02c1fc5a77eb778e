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
