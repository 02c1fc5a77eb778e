/** Drives behind RAID controllers: which the script finds and asks, and what is made of the answers. */
import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { seenOf } from "../../src/base/fact.ts";
import { examine } from "../../src/hardware/findings/examine.ts";
import { gatherDeadlineMs, gatherScript } from "../../src/hardware/gather/gather-script.ts";
import { parseGathered } from "../../src/hardware/gather/gathered.ts";
import { type RaidDiskLimits, raidDiskScript } from "../../src/hardware/gather/raid-disk-script.ts";
import { replyOf } from "./reply.ts";

const nonce = "raiddisks1";

/** As smartctl prints a SATA drive that is well. */
const healthy = (name: string) => ({
  smartctl: { exit_status: 0 },
  device: { name, protocol: "ATA" },
  model_name: "EXAMPLE HDD",
  rotation_rate: 7200,
  smart_status: { passed: true },
  ata_smart_attributes: {
    table: [5, 187, 197, 198].map((id) => ({ id, name: `a${id}`, value: 100, thresh: 0, raw: { value: 0 } })),
  },
});
const enclosure = { ...healthy("x"), device_type: { scsi_value: 13, name: "enclosure" } };
const doesNotOpen = {
  smartctl: { exit_status: 2, messages: [{ string: "INQUIRY failed", severity: "error" }] },
};

describe("the answers", () => {
  const two = "disk 0 megaraid,8 /dev/bus/0\ndisk 1 megaraid,9 /dev/bus/0\n";
  const answers = {
    "smartctl-raid:0": JSON.stringify(healthy("/dev/bus/0")),
    "smartctl-raid:1": JSON.stringify(healthy("/dev/bus/0")),
  };
  const read = (lines: string, sections: Parameters<typeof replyOf>[1] = {}, uid = 0) =>
    parseGathered(
      replyOf(nonce, { "raid-disks": lines, ...sections }).replace("begin 1 0", `begin 1 ${uid}`),
      nonce,
    );

  test("without a controller there are none, and nothing is said", () => {
    const facts = read("bus\n");
    expect(facts.raidDisks).toEqual({ known: [] });
    const { unjudged, passed } = examine({ ...facts, disks: { known: [] } });
    expect([...unjudged, ...passed].filter(({ id }) => id === "disk-failing")).toEqual([]);
  });

  test("every drive is named as smartctl is told, and judged", () => {
    const facts = read(`bus\ncard megaraid_sas\n${two}asked megaraid_sas\n`, {
      ...answers,
      "smartctl-raid:1": JSON.stringify({ ...healthy("/dev/bus/0"), smart_status: { passed: false } }),
    });
    expect(facts.raidDisks).toMatchObject({
      known: [
        { name: "megaraid,8 /dev/bus/0", model: { known: "EXAMPLE HDD" }, media: { known: "hdd" } },
        { name: "megaraid,9 /dev/bus/0", health: { passed: { known: false } } },
      ],
    });
    const { findings, passed } = examine(facts);
    expect(findings).toContainEqual(
      expect.objectContaining({ id: "disk-failing", severity: "critical", subject: "megaraid,9 /dev/bus/0" }),
    );
    expect(passed).toContainEqual(
      expect.objectContaining({ id: "disk-failing", subject: "megaraid,8 /dev/bus/0" }),
    );
  });

  test("an enclosure is no drive; what did not answer is one of which nothing is known", () => {
    const facts = read("bus\ncard hpsa\ndisk 0 cciss,0 /dev/sg1\ndisk 1 cciss,1 /dev/sg1\nasked hpsa\n", {
      "smartctl-raid:0": JSON.stringify(enclosure),
      "smartctl-raid:1": { text: JSON.stringify(doesNotOpen), status: "2" },
    });
    expect(facts.raidDisks).toMatchObject({
      known: [{ name: "cciss,1 /dev/sg1", health: { passed: { unknown: "smartctl: INQUIRY failed" } } }],
    });
    expect(examine(facts).unjudged).toContainEqual(
      expect.objectContaining({ id: "disk-failing", subject: "cciss,1 /dev/sg1" }),
    );
  });

  test("one that took too long is unknown for that reason", () => {
    const facts = read(`bus\ncard megaraid_sas\n${two}asked megaraid_sas\n`, {
      ...answers,
      "smartctl-raid:0": { text: "", status: "124" },
    });
    expect(seenOf(facts.raidDisks)[0]!.health.passed).toEqual({ unknown: "smartctl: took too long" });
  });

  test.each([
    ["no smartctl", "bus\ncard hpsa\ntool missing\n", 0, "smartctl: not installed"],
    ["no root", "bus\ncard megaraid_sas\nasked megaraid_sas\n", 1000, "smartctl: needs root"],
    [
      "a scan that failed",
      "bus\ncard megaraid_sas\nfailed megaraid_sas 124\n",
      0,
      "smartctl --scan ended with 124",
    ],
    [
      "a scan that lists nothing",
      "bus\ncard megaraid_sas\nasked megaraid_sas\n",
      0,
      "smartctl finds no drive behind megaraid_sas",
    ],
    [
      "no device of the controller",
      "bus\ncard arcmsr\nfailed arcmsr nodevice\n",
      0,
      "there is no device to reach the drives behind arcmsr by",
    ],
    ["another driver", "bus\ncard aacraid\n", 0, "nothing here knows how to ask the drives behind aacraid"],
    [
      "a driver named as what every object has",
      "bus\ncard constructor\n",
      0,
      "nothing here knows how to ask the drives behind constructor",
    ],
    ["no driver", "bus\ncard none\n", 0, "no driver has the RAID controller"],
    ["no bus", "", 0, "the kernel shows no PCI bus"],
    [
      "a second card that was not asked",
      `bus\ncard hpsa\ncard hpsa\ndisk 0 cciss,0 /dev/sg1\nasked hpsa\n`,
      0,
      "the drives behind hpsa were not asked to the end",
    ],
    [
      "drives behind the time",
      `bus\ncard megaraid_sas\n${two}late\n`,
      0,
      "the drives behind megaraid_sas were not asked to the end; not every drive behind the RAID controllers was asked in time",
    ],
  ])("%s: the list is not known to be whole", (_, lines, uid, reason) => {
    const facts = read(lines, answers, uid);
    expect(facts.raidDisks).toMatchObject({ unknown: reason });
    expect(examine(facts).unjudged).toContainEqual(expect.objectContaining({ id: "disk-failing" }));
  });

  test("a controller that hides nothing asks for nothing", () => {
    expect(read("bus\ncard ahci\ncard vmd\n").raidDisks).toEqual({ known: [] });
  });

  test("without the section nothing is known", () => {
    expect(parseGathered(replyOf(nonce, {}), nonce).raidDisks).toHaveProperty("unknown");
  });
});

test("the limits fit into the deadline of the exec", () => {
  const [, start, disk] = /seconds \+ (\d+)[\s\S]*smartctl-raid:\$count (\d+)/.exec(raidDiskScript())!;
  expect((Number(start) + Number(disk) + 10) * 1_000).toBeLessThan(gatherDeadlineMs);
});

describe("the script", () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "raid-disks-"));
    // Answers out of files: TYPE.json, and a status in TYPE.status; says what it was asked.
    writeFileSync(
      join(folder, "smartctl"),
      `#!/bin/sh
echo "$*" >>"$ASKED"
case $1 in --scan) [ -e "$ANSWERS/slow-scan" ] && sleep 60; cat "$ANSWERS/scan"; exit 0 ;; esac
json=
while [ $# -gt 0 ]; do case $1 in -d) type=$2; shift ;; -j) json=1 ;; esac; shift; done
[ ! -e "$ANSWERS/$type.slow" ] || sleep 60
[ -z "$json" ] || cat "$ANSWERS/$type.json" 2>/dev/null
[ -e "$ANSWERS/$type.json" ] || exit 2
`,
    );
    chmodSync(join(folder, "smartctl"), 0o755);
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  interface Machine {
    /** Class and driver of every PCI device. */
    readonly cards: readonly (readonly [classCode: string, driver: string])[];
    /** SCSI hosts, by the number of their card, with the types of their devices. */
    readonly hosts?: readonly (readonly [card: number, types: readonly number[]])[];
    readonly answers?: Readonly<Record<string, unknown>>;
  }

  /** A slow machine is no slow controller. */
  const patient = { startSeconds: 600, scanSeconds: 120, openSeconds: 120, diskSeconds: 120 };

  /** Lays out files as /sys has them and runs the script. */
  function run({ cards, hosts = [], answers = {} }: Machine, limits: Partial<RaidDiskLimits> = {}) {
    const place = mkdtempSync(join(folder, "machine-"));
    const sys = join(place, "sys");
    const file = (path: string, text: string) => {
      mkdirSync(dirname(join(place, path)), { recursive: true });
      writeFileSync(join(place, path), text);
    };
    const link = (path: string, to: string) => {
      mkdirSync(dirname(join(place, path)), { recursive: true });
      symlinkSync(to, join(place, path));
    };
    mkdirSync(join(sys, "bus/pci/devices"), { recursive: true });
    for (const [i, [classCode, driver]] of cards.entries()) {
      const device = `sys/devices/pci0/card${i}`;
      file(`${device}/class`, `${classCode}\n`);
      mkdirSync(join(sys, "bus/pci/drivers", driver), { recursive: true });
      if (driver !== "") link(`${device}/driver`, join(sys, "bus/pci/drivers", driver));
      link(`sys/bus/pci/devices/card${i}`, join(place, device));
    }
    let generic = 0;
    for (const [i, [card, types]] of hosts.entries()) {
      const host = `sys/devices/pci0/card${card}/host${i}`;
      mkdirSync(join(place, host, `scsi_host/host${i}`), { recursive: true });
      link(`${host}/scsi_host/host${i}/device`, join(place, host));
      link(`sys/class/scsi_host/host${i}`, join(place, host, `scsi_host/host${i}`));
      for (const [j, type] of types.entries()) {
        file(`${host}/target/${i}:0:${j}:0/type`, `${type}\n`);
        file(`sys/class/scsi_generic/sg${generic}/uevent`, "");
        link(`sys/class/scsi_generic/sg${generic++}/device`, join(place, host, `target/${i}:0:${j}:0`));
      }
    }
    mkdirSync(join(place, "answers"));
    for (const [name, answer] of Object.entries(answers))
      file(`answers/${name}`, typeof answer === "string" ? answer : JSON.stringify(answer));
    file("asked", "");
    const made = raidDiskScript({ sys, ...patient, ...limits });
    const { stdout } = spawnSync("sh", ["-s"], {
      input: gatherScript(nonce, [], made),
      encoding: "utf8",
      env: {
        PATH: `${folder}:${process.env.PATH ?? ""}`,
        ANSWERS: join(place, "answers"),
        ASKED: join(place, "asked"),
      },
    });
    const facts = parseGathered(stdout.replace(`begin 1 ${process.getuid?.()}`, "begin 1 0"), nonce);
    return {
      facts,
      names: seenOf(facts.raidDisks).map(({ name }) => name),
      whole: "known" in facts.raidDisks,
    };
  }
  const drives = (...types: readonly string[]) =>
    Object.fromEntries(types.map((type) => [`${type}.json`, healthy(type)]));

  test("megaraid: the drives of the scan, and no other devices of it", () => {
    const scan =
      "/dev/sda -d scsi # /dev/sda, SCSI device\n" +
      "/dev/bus/0 -d megaraid,8 # /dev/bus/0 [megaraid_disk_08], SCSI device\n" +
      "/dev/bus/0 -d megaraid,11 # /dev/bus/0 [megaraid_disk_11], SCSI device\n" +
      "/dev/nvme0 -d nvme # /dev/nvme0, NVMe device\n";
    const { facts, names, whole } = run({
      cards: [
        ["0x020000", "igb"],
        ["0x010400", "megaraid_sas"],
      ],
      answers: { scan, ...drives("megaraid,8", "megaraid,11") },
    });
    expect([names, whole]).toEqual([["megaraid,8 /dev/bus/0", "megaraid,11 /dev/bus/0"], true]);
    expect(facts.isComplete).toEqual({ known: true });
    expect(seenOf(facts.raidDisks)[1]!.health.passed).toEqual({ known: true });
  });

  test("cciss: by any device of the controller's host; one in between that does not answer is not passed over", () => {
    const { names, whole, facts } = run({
      cards: [
        ["0x010700", "mpt3sas"],
        ["0x010700", "smartpqi"],
      ],
      hosts: [
        [0, [0]],
        [1, [13, 0]],
      ],
      answers: drives("cciss,0", "cciss,2"),
    });
    expect([names, whole]).toEqual([
      ["cciss,1", "cciss,2", "cciss,0"].sort().map((one) => `${one} /dev/sg1`),
      true,
    ]);
    expect(facts.raidDisks).toMatchObject({
      known: expect.arrayContaining([
        expect.objectContaining({
          name: "cciss,1 /dev/sg1",
          health: expect.objectContaining({ passed: { unknown: expect.any(String) } }),
        }),
      ]),
    });
  });

  test("areca: the slots that hold something, at the controller's own device", () => {
    const { names, whole } = run({
      cards: [["0x010400", "arcmsr"]],
      hosts: [[0, [0, 3]]],
      answers: drives("areca,2", "areca,24"),
    });
    expect([names, whole]).toEqual([["areca,2 /dev/sg1", "areca,24 /dev/sg1"], true]);
  });

  test("without a controller smartctl is not asked at all", () => {
    const { facts } = run({ cards: [["0x010601", "ahci"]], answers: { "slow-scan": "" } });
    expect(facts.raidDisks).toEqual({ known: [] });
  });

  test("drives for which there is no time left", () => {
    const { names, facts } = run(
      {
        cards: [["0x010400", "megaraid_sas"]],
        answers: { scan: "/dev/bus/0 -d megaraid,0 # x\n", ...drives("megaraid,0") },
      },
      { startSeconds: 0 },
    );
    expect(names).toEqual([]);
    expect(facts.raidDisks).toMatchObject({ unknown: expect.stringContaining("asked in time") });
  });

  test("more drives than are asked", () => {
    const all = Array.from({ length: 70 }, (_, i) => `megaraid,${i}`);
    const { names, facts } = run({
      cards: [["0x010400", "megaraid_sas"]],
      answers: { scan: all.map((type) => `/dev/bus/0 -d ${type} # x\n`).join(""), ...drives(...all) },
    });
    expect(names).toHaveLength(64);
    expect(facts.raidDisks).toMatchObject({ unknown: expect.stringContaining("not every drive") });
  });

  test("a drive that hangs costs its own answer, a scan that hangs the list", () => {
    const cards = [["0x010400", "megaraid_sas"]] as const;
    const one = "/dev/bus/0 -d megaraid,0 # x\n/dev/bus/0 -d megaraid,1 # x\n";
    const hangs = run(
      { cards, answers: { scan: one, "megaraid,0.slow": "", ...drives("megaraid,0", "megaraid,1") } },
      { diskSeconds: 10 },
    );
    expect(hangs.whole).toBe(true);
    expect(seenOf(hangs.facts.raidDisks).map(({ health }) => health.passed)).toEqual([
      { unknown: "smartctl: took too long" },
      { known: true },
    ]);
    const { facts } = run({ cards, answers: { scan: one, "slow-scan": "" } }, { scanSeconds: 1 });
    expect(facts.raidDisks).toMatchObject({ unknown: "smartctl --scan ended with 124" });
  });
});
