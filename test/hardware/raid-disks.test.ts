/** Drives behind RAID controllers: what is made of the answers. */
import { describe, expect, test } from "vitest";
import { seenOf } from "../../src/base/fact.ts";
import { examine } from "../../src/hardware/findings/examine.ts";
import { parseGathered } from "../../src/hardware/gather/gathered.ts";
import { healthy } from "./healthy-drive.ts";
import { replyOf } from "./reply.ts";

const nonce = "raiddisks1";

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
    expect(examine(facts).unjudged).toContainEqual({ status: "unknown", id: "disk-failing", reason });
  });

  test("a controller that hides nothing asks for nothing", () => {
    expect(read("bus\ncard ahci\ncard vmd\n").raidDisks).toEqual({ known: [] });
  });

  test("without the section nothing is known", () => {
    expect(parseGathered(replyOf(nonce, {}), nonce).raidDisks).toHaveProperty("unknown");
  });
});
