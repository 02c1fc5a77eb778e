/** Drives behind RAID controllers: which the script finds and asks, with a smartctl and a /sys of our own. */
import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { seenOf } from "../../src/base/fact.ts";
import { gatherDeadlineMs, gatherScript } from "../../src/hardware/gather/gather-script.ts";
import { parseGathered } from "../../src/hardware/gather/gathered.ts";
import { type RaidDiskLimits, raidDiskScript } from "../../src/hardware/gather/raid-disk-script.ts";
import { healthy } from "./healthy-drive.ts";

const nonce = "raiddisks1";

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
