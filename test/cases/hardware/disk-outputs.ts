/** Outputs about disk, written by us after the form of real ones, bad news included. */
import type { SavedOutput } from "./saved-output.ts";

const attributes = (rows: string) => `smartctl 6.6 2017-11-05 r4594 [x86_64-linux]

=== START OF INFORMATION SECTION ===
Device Model:     EXAMPLE SSD 480
User Capacity:    480,103,981,056 bytes [480 GB]
Rotation Rate:    Solid State Device
Write cache is:   Enabled

=== START OF READ SMART DATA SECTION ===
SMART overall-health self-assessment test result: PASSED

ID# ATTRIBUTE_NAME          FLAGS    VALUE WORST THRESH FAIL RAW_VALUE
${rows}
`;

/** The page as newer versions of nvme-cli print it for people: tabs, and no colons. */
const ocpText = (capacitors: string, id = "0xafd514c97c6f4f9ca4f2bfea2810afc5") => `SMART Cloud Attributes :-
  Physical media units written -\t\t1203948109312
  Bad user nand blocks - Raw\t\t\t4
  Bad user nand blocks - Normalized\t\t100
  Uncorrectable read error count\t\t0
  System data percent used\t\t\t2
  Current throttling status\t\t\t0x0
  Incomplete shutdowns\t\t\t\t0
  Percent free blocks\t\t\t\t97
  Capacitor health\t\t\t\t${capacitors}
  PLP start count\t\t\t\t31
  Endurance estimate\t\t\t\t8760000000000000
  Log page version\t\t\t\t3
  Log page GUID\t\t\t\t\t${id}
  Errata Version Field                          0
`;

export const diskOutputs: readonly SavedOutput[] = [
  {
    name: "smartctl: a disk that says it fails",
    kind: "smartctl",
    text: JSON.stringify({
      smartctl: { exit_status: 24 },
      device: { name: "/dev/sdc", protocol: "ATA" },
      model_name: "EXAMPLE HDD",
      rotation_rate: 7200,
      user_capacity: { bytes: 4_000_787_030_016 },
      smart_status: { passed: false },
      power_on_time: { hours: 41_000 },
      ata_smart_attributes: {
        table: [
          { id: 5, name: "Reallocated_Sector_Ct", value: 4, thresh: 10, when_failed: "now", raw: { value: 3120 } },
          { id: 197, name: "Current_Pending_Sector", value: 100, thresh: 0, when_failed: "", raw: { value: 8 } },
        ],
      },
    }),
  },
  {
    name: "smartctl: an SSD whose capacitors failed their test",
    kind: "smartctl",
    text: JSON.stringify({
      smartctl: { exit_status: 0 },
      device: { name: "/dev/sdb", protocol: "ATA" },
      rotation_rate: 0,
      smart_status: { passed: true },
      ata_smart_attributes: {
        table: [{ id: 175, name: "Power_Loss_Cap_Test", value: 3, thresh: 10, when_failed: "", raw: { value: 3 } }],
      },
    }),
  },
  {
    name: "smartctl text: pending sectors in the last row",
    kind: "smartctl",
    text: attributes(
      `  5 Reallocated_Sector_Ct   PO--CK   100   100   010    -    0
175 Power_Loss_Cap_Test     PO--CK   100   100   010    -    641
197 Current_Pending_Sector  -O--CK   100   100   000    -    2`,
    ),
  },
  {
    name: "nvme id-ctrl: a cache that needs power",
    kind: "nvme",
    text: JSON.stringify({ vid: 5197, mn: "EXAMPLE NVME 1TB   ", vwc: 7 }),
  },
  {
    name: "nvme smart-log: values as text, media errors",
    kind: "nvme",
    text: JSON.stringify({
      critical_warning: "0x4",
      avail_spare: "3",
      spare_thresh: "5",
      percent_used: "101.0",
      media_errors: "17",
      power_on_hours: "24,424",
    }),
  },
  { name: "nvme ocp text: capacitors as they should be", kind: "nvme", text: ocpText("121") },
  { name: "nvme ocp text: a drive without capacitors", kind: "nvme", text: ocpText("65535") },
  { name: "nvme ocp text: capacitors printed as no number", kind: "nvme", text: ocpText("-3") },
  {
    name: "nvme ocp text: the same page with another identifier",
    kind: "nvme",
    text: ocpText("100", "0x00112233445566778899aabbccddeeff"),
  },
  {
    name: "nvme ocp text with colons: capacitors that hold too little",
    kind: "nvme",
    text: `SMART Cloud Attributes:
  Bad user nand blocks - raw:             12
  Uncorrectable read error count:         3
  System data percent used:               104
  Incomplete shutdowns:                   2
  Percent free blocks:                    41
  Capacitor health:                       0
  PLP start count:                        7
  Log page GUID:                          0xafd514c97c6f4f9ca4f2bfea2810afc5
`,
  },
  {
    name: "nvme ocp JSON: names with blanks",
    kind: "nvme",
    text: JSON.stringify({
      "Physical media units written": { hi: 0, lo: 5_301_112 },
      "Bad user nand blocks": { raw: 0, normalized: 100 },
      "Uncorrectable read error count": 0,
      "System data percent used": 1,
      "Incomplete shutdowns": 0,
      "Percent free blocks": 99,
      "Capacitor health": 100,
      "PLP start count": 2,
      "Log page version": 2,
      "Log page GUID": "0xafd514c97c6f4f9ca4f2bfea2810afc5",
    }),
  },
  {
    name: "nvme ocp JSON: names with underscores, stops that saved not everything",
    kind: "nvme",
    text: JSON.stringify({
      uncorrectable_read_errors: 0,
      system_data_percent_used: 12,
      incomplete_shutdowns: 4,
      percent_free_blocks: 88,
      capacitor_health: 97,
      plp_start_count: "19",
      log_page_guid: "0xAFD514C97C6F4F9CA4F2BFEA2810AFC5",
    }),
  },
  {
    name: "lsblk: new types, a mount below a volume",
    kind: "lsblk",
    text: JSON.stringify({
      blockdevices: [
        {
          name: "sda",
          type: "disk",
          size: 480_103_981_056,
          rota: false,
          tran: "sata",
          model: "EXAMPLE SSD",
          mountpoints: [null],
          children: [
            { name: "sda1", type: "part", size: 536_870_912, rota: false, mountpoints: ["/boot"] },
            {
              name: "sda2",
              type: "part",
              size: 479_000_000_000,
              rota: false,
              children: [{ name: "vg-data", type: "lvm", size: 400_000_000_000, rota: false, mountpoints: ["/var/lib/postgresql"] }],
            },
          ],
        },
      ],
    }),
  },
  {
    name: "lsblk: old types",
    kind: "lsblk",
    text: JSON.stringify({
      blockdevices: [
        { name: "sdb", type: "disk", size: "4000787030016", rota: "1", tran: null, model: "EXAMPLE HDD", mountpoint: "/data" },
      ],
    }),
  },
  {
    name: "lsblk -P",
    kind: "lsblk",
    text: `NAME="nvme0n1" TYPE="disk" SIZE="960197124096" ROTA="0" TRAN="nvme" MODEL="EXAMPLE\\x20NVME" MOUNTPOINT="" PKNAME=""
NAME="nvme0n1p1" TYPE="part" SIZE="960000000000" ROTA="0" TRAN="" MODEL="" MOUNTPOINT="/srv" PKNAME="nvme0n1"
`,
  },
];
