/** What a person reads in real outputs about disks, processors, memory and time. */
import { expect } from "vitest";
import { type CorpusCase, known } from "./corpus-case.ts";

export const machineCases: readonly CorpusCase[] = [
  {
    file: "disk/smartctl-nvme-intel-p4510.json",
    kind: "smartctl",
    facts: expect.objectContaining({
      device: known("/dev/nvme0"),
      model: known("INTEL SSDPE2KX080T8"),
      sizeBytes: known(8_001_563_222_016),
      media: known("nvme"),
      health: {
        passed: known(true),
        problems: known([]),
        percentUsed: known(0),
        powerOnHours: known(12_164),
      },
    }),
    verdicts: { "disk-failing": "good", "ssd-without-power-loss-protection": "unknown" },
  },
  {
    file: "disk/smartctl-nvme-samsung-970.json",
    kind: "smartctl",
    facts: expect.objectContaining({
      model: known("Samsung SSD 970 EVO Plus 250GB"),
      sizeBytes: known(250_059_350_016),
      media: known("nvme"),
      powerLossProtection: { unknown: expect.any(String) },
    }),
    verdicts: { "disk-failing": "good", "ssd-without-power-loss-protection": "unknown" },
  },
  {
    file: "disk/smartctl-sata-intel-s3520.json",
    kind: "smartctl",
    facts: expect.objectContaining({
      model: known("INTEL SSDSC2BB240G7"),
      sizeBytes: known(240_057_409_536),
      rotational: known(false),
      media: known("ssd"),
      powerLossProtection: known(true),
    }),
    verdicts: { "disk-failing": "good", "ssd-without-power-loss-protection": "good" },
  },
  {
    file: "disk/smartctl-scsi-seagate.json",
    kind: "smartctl",
    facts: expect.objectContaining({
      media: known("hdd"),
      sizeBytes: known(73_407_820_800),
      health: expect.objectContaining({
        passed: known(true),
        problems: known(["536 errors that could not be corrected", "260 defects grown since it was made"]),
        powerOnHours: known(102_880),
      }),
    }),
    verdicts: { "disk-failing": "bad warning" },
  },
  {
    file: "disk/nvme-smart-log.json",
    kind: "nvme",
    facts: expect.objectContaining({
      document: known("smart-log"),
      health: {
        passed: known(true),
        problems: known([]),
        percentUsed: known(30),
        powerOnHours: known(24_424),
      },
    }),
    verdicts: { "disk-failing": "good", "ssd-without-power-loss-protection": "unknown" },
  },
  {
    file: "cpu/lscpu-x86-host-rhel9.txt",
    kind: "lscpu",
    facts: {
      architecture: known("x86_64"),
      virtualization: { unknown: expect.any(String) },
      cpu: {
        model: known("Intel(R) Xeon(R) CPU           X5680  @ 3.33GHz"),
        sockets: known(2),
        cores: known(12),
        threads: known(12),
        numaNodes: known([
          expect.objectContaining({ id: 0, cpus: [0, 2, 4, 6, 8, 10] }),
          expect.objectContaining({ id: 1, cpus: [1, 3, 5, 7, 9, 11] }),
        ]),
      },
    },
    verdicts: { "numa-hidden": "good" },
  },
  {
    file: "cpu/lscpu-epyc-7302-8-nodes.txt",
    kind: "lscpu",
    facts: expect.objectContaining({
      cpu: expect.objectContaining({
        sockets: known(1),
        cores: known(16),
        threads: known(32),
        numaNodes: known(
          Array.from({ length: 8 }, (_, id) =>
            expect.objectContaining({ id, cpus: [2 * id, 2 * id + 1, 2 * id + 16, 2 * id + 17] }),
          ),
        ),
      }),
    }),
    verdicts: { "numa-hidden": "good" },
  },
  {
    file: "cpu/lscpu-x86-guest-kvm.txt",
    kind: "lscpu",
    facts: expect.objectContaining({
      virtualization: known("kvm"),
      cpu: expect.objectContaining({ sockets: known(4), cores: known(4), threads: known(4) }),
    }),
    verdicts: { "numa-hidden": "bad info" },
  },
  {
    file: "memory/dmidecode-dell-r740.txt",
    kind: "dmidecode",
    facts: expect.objectContaining({
      product: known("PowerEdge R740"),
      ecc: known("multi-bit"),
      emptySlots: known(8),
      dimms: known(
        ["A", "B"].flatMap((socket) =>
          Array.from({ length: 8 }, (_, i) =>
            expect.objectContaining({
              locator: `${socket}${i + 1}`,
              sizeBytes: 16 * 1024 ** 3,
              kind: known("DDR4"),
              ratedMtps: known(2933),
              configuredMtps: known(2666),
              totalWidthBits: known(72),
            }),
          ),
        ),
      ),
      power: expect.objectContaining({
        source: "firmware table",
        supplies: known([
          expect.objectContaining({ isPresent: known(true), capacityWatts: known(1100) }),
          expect.objectContaining({ isPresent: known(true), isHealthy: { unknown: expect.any(String) } }),
        ]),
      }),
    }),
    verdicts: {
      "memory-without-ecc": "good",
      "memory-below-rated-speed": "bad warning",
      "memory-unbalanced": "good",
      "single-power-supply": "good",
      "power-supply-failed": "unknown",
    },
  },
  {
    file: "time/timedatectl-rtc-local.txt",
    kind: "timedatectl",
    facts: {
      timeZone: known("Europe/Athens"),
      rtcLocal: known(true),
      synchronized: known(true),
      ntpService: known(true),
    },
    verdicts: { "rtc-in-local-time": "bad warning", "time-zone-not-utc": "bad warning" },
  },
  {
    file: "time/timedatectl-centos7.txt",
    kind: "timedatectl",
    facts: {
      timeZone: known("America/Los_Angeles"),
      rtcLocal: known(false),
      synchronized: known(true),
      ntpService: known(true),
    },
    verdicts: { "rtc-in-local-time": "good", "time-zone-not-utc": "bad warning" },
  },
];
