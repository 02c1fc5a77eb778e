/** Findings that need facts of more than one tool, or of the kernel's own files. */
import { describe, expect, test } from "vitest";
import { known, unknown } from "../../src/base/fact.ts";
import { examine } from "../../src/hardware/findings/examine.ts";
import type { CheckContext } from "../../src/hardware/findings/verdict.ts";
import type { DiskFacts, HostFacts } from "../../src/hardware/host-facts.ts";
import { blankHost } from "../../src/hardware/kinds.ts";
import { parseBonding } from "../../src/hardware/parse/bonding.ts";
import { parseChronyConf } from "../../src/hardware/parse/chrony-conf.ts";
import { parseNics } from "../../src/hardware/parse/device-files.ts";
import { parseClockSource, parseHugePages } from "../../src/hardware/parse/kernel.ts";
import { parseMdstat } from "../../src/hardware/parse/mdstat.ts";
import { parseAdjtime } from "../../src/hardware/parse/system.ts";

const blank = blankHost();
const whole = (text: string) => ({ text, isWhole: true });
const no = unknown("not read");

const clock = (some: Partial<HostFacts["clock"]>): HostFacts => ({
  ...blank,
  clock: { ...blank.clock, ...some },
});
const ntp = (some: Partial<HostFacts["clock"]["ntp"]>) => clock({ ntp: { ...blank.clock.ntp, ...some } });
const conf = (text: string) => ntp({ daemon: known("chronyd"), configuration: parseChronyConf(whole(text)) });

const ssd = (some: Partial<DiskFacts>): HostFacts => ({
  ...blank,
  disks: known([
    {
      name: "sda",
      sizeBytes: no,
      model: no,
      transport: no,
      rotational: known(false),
      media: known("ssd"),
      writeCache: known("write back"),
      scheduler: no,
      ...{ powerLossProtection: known(false), capacitorPercent: no },
      mountPoints: ["/", "/boot"],
      health: { passed: no, problems: no, percentUsed: no, powerOnHours: no },
      ...some,
    },
  ]),
});

const bond = (second: string) => `bond bond0
Ethernet Channel Bonding Driver: v6.1.0

Bonding Mode: IEEE 802.3ad Dynamic link aggregation
MII Status: up

Slave Interface: eth0
MII Status: up
Speed: 25000 Mbps
${second}`;

const leg = (status: string, speed: number) => `
Slave Interface: eth1
MII Status: ${status}
Speed: ${speed} Mbps
`;

const mdstat = (state: string) => `Personalities : [raid1]
md0 : active raid1 sdb1[1]${state === "U_" ? "(F)" : ""} sda1[0]
      523712 blocks super 1.2 [2/${state === "UU" ? 2 : 1}] [${state}]

unused devices: <none>
`;

const virtual = { ...blank.os, virtualization: known("kvm") };
const source = (name: string) =>
  clock(parseClockSource(whole(`current=${name}\navailable=tsc hpet acpi_pm\n`)));
const store: CheckContext = { recordStorePath: "/var/lib/postgresql" };

type Case = readonly [what: string, host: HostFacts, id: string, verdict: string, context?: CheckContext];
const cases: readonly Case[] = [
  ["tsc", source("tsc"), "slow-clock-source", "good"],
  ["hpet", source("hpet"), "slow-clock-source", "bad warning"],
  ["acpi_pm", source("acpi_pm"), "slow-clock-source", "bad warning"],
  ["no clock source shown", blank, "slow-clock-source", "unknown"],
  ["summer time", clock({ timeZone: known("Europe/Berlin") }), "time-zone-not-utc", "bad warning"],
  ["another name of UTC", clock({ timeZone: known("Etc/UTC") }), "time-zone-not-utc", "good"],
  [
    "RTC in local time",
    clock({ rtcLocal: parseAdjtime(whole("0\n0\nLOCAL\n")) }),
    "rtc-in-local-time",
    "bad warning",
  ],
  ["RTC in UTC", clock({ rtcLocal: parseAdjtime(whole("0\n0\nUTC\n")) }), "rtc-in-local-time", "good"],
  ["makestep at any time", conf("server a iburst\nmakestep 1 -1\n"), "clock-may-step", "bad warning"],
  ["makestep at start", conf("makestep 1 3\n"), "clock-may-step", "good"],
  [
    "makestep overruled later",
    conf("makestep 1 3\n! makestep 1 3\nMakeStep 0.1 -1\n"),
    "clock-may-step",
    "bad warning",
  ],
  ["no makestep", conf("server a\n"), "clock-may-step", "good"],
  ["no chrony.conf", conf(""), "clock-may-step", "unknown"],
  ["two daemons", ntp({ daemon: known("chronyd and ntpd") }), "two-time-daemons", "bad warning"],
  [
    "no daemon",
    ntp({ daemon: known("none"), running: known(false) }),
    "clock-not-synchronised",
    "bad critical",
  ],
  ["offset 19 ms", ntp({ offsetSeconds: known(0.019) }), "clock-offset", "good"],
  ["offset 20 ms", ntp({ offsetSeconds: known(-0.02) }), "clock-offset", "bad info"],
  ["offset 100 ms", ntp({ offsetSeconds: known(0.1) }), "clock-offset", "bad warning"],
  ["offset 500 ms", ntp({ offsetSeconds: known(-0.5) }), "clock-offset", "bad critical"],
  ["reach 2 of 8", ntp({ reach: known(2) }), "ntp-reach", "bad warning"],
  ["reach 3 of 8", ntp({ reach: known(3) }), "ntp-reach", "good"],
  [
    "THP always",
    { ...blank, transparentHugePages: parseHugePages(whole("[always] madvise never\n")) },
    "huge-pages-always",
    "bad warning",
  ],
  [
    "THP madvise",
    { ...blank, transparentHugePages: parseHugePages(whole("always [madvise] never\n")) },
    "huge-pages-always",
    "good",
  ],
  ["bond of two", { ...blank, bonds: parseBonding(whole(bond(leg("up", 25000)))) }, "bond-degraded", "good"],
  [
    "bond with a leg down",
    { ...blank, bonds: parseBonding(whole(bond(leg("down", 25000)))) },
    "bond-degraded",
    "bad warning",
  ],
  ["bond with one leg", { ...blank, bonds: parseBonding(whole(bond(""))) }, "bond-degraded", "bad warning"],
  [
    "bond of two speeds",
    { ...blank, bonds: parseBonding(whole(bond(leg("up", 1000)))) },
    "bond-degraded",
    "bad info",
  ],
  [
    "a port of 100 Mbit/s",
    { ...blank, nics: known(parseNics(whole("nic eth0\nspeed=100\ncarrier=1\nphysical=1\n"))) },
    "port-slow",
    "bad warning",
  ],
  [
    "a port of 25 Gbit/s",
    { ...blank, nics: known(parseNics(whole("nic eth0\nspeed=25000\ncarrier=1\nphysical=1\n"))) },
    "port-slow",
    "good",
  ],
  [
    "a port that shows -1",
    { ...blank, nics: known(parseNics(whole("nic eth0\nspeed=-1\ncarrier=1\nphysical=1\n"))) },
    "port-slow",
    "unknown",
  ],
  [
    "an array with both drives",
    { ...blank, mdArrays: parseMdstat(whole(mdstat("UU"))) },
    "md-degraded",
    "good",
  ],
  [
    "an array with one drive",
    { ...blank, mdArrays: parseMdstat(whole(mdstat("U_"))) },
    "md-degraded",
    "bad critical",
  ],
  ["an SSD without protection", ssd({}), "ssd-without-power-loss-protection", "bad warning"],
  ["the same below the record store", ssd({}), "ssd-without-power-loss-protection", "bad critical", store],
  [
    "the store on another disk",
    ssd({ mountPoints: ["/srv"] }),
    "ssd-without-power-loss-protection",
    "bad warning",
    store,
  ],
  [
    "an SSD of which nobody knows",
    ssd({ powerLossProtection: no }),
    "ssd-without-power-loss-protection",
    "unknown",
    store,
  ],
  [
    "a virtual machine's modules",
    { ...blank, os: virtual, memory: { ...blank.memory, ecc: known("none") } },
    "memory-without-ecc",
    "unknown",
  ],
  ["a virtual machine's supplies", { ...blank, os: virtual }, "single-power-supply", "unknown"],
  [
    "one supply in the firmware's table",
    {
      ...blank,
      power: {
        ...blank.power,
        source: "firmware table",
        supplies: known([
          { name: "PS1", isPresent: known(true), hasInput: no, isHealthy: no, capacityWatts: no },
        ]),
      },
    },
    "single-power-supply",
    "unknown",
  ],
];

describe("findings", () => {
  test.each(cases.map(([what, ...rest]) => ({ what, rest })))(
    "$what",
    ({ rest: [host, id, verdict, context = {}] }) => {
      const { findings, unjudged, passed } = examine(host, context);
      const said = [
        ...findings.filter((one) => one.id === id).map((one) => `bad ${one.severity}`),
        ...unjudged.filter((one) => one.id === id).map(() => "unknown"),
        ...passed.filter((one) => one.id === id).map(() => "good"),
      ];
      expect(said).toEqual([verdict]);
    },
  );
  test("a host of which nothing is known passes nothing", () => {
    const { findings, unjudged, passed } = examine(blank);
    expect(findings).toEqual([]);
    expect(passed).toEqual([]);
    expect(unjudged.length).toBeGreaterThan(15);
    for (const one of unjudged) expect(one.reason, one.id).not.toBe("");
  });
});
