/** Item 9: the time service, and zones. */
import { execFileSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { timeService } from "../../../src/checklist/items/09-time-service.ts";
import { gatherSections } from "../../../src/checklist/items/host-sections.ts";
import { readTimeSections, timeScript } from "../../../src/checklist/items/time-service.ts";
import {
  type Answers,
  fakeHost,
  goodHosts,
  goodTime,
  keyOf,
  sectionText,
  unreachable,
} from "../fake-host.ts";
import { goodDomains } from "../good-files.ts";
import { changed, context, resultOf, verdicts } from "../item-scene.ts";

const onHost = (name: string, answers: Answers) => ({ hosts: goodHosts({ [name]: answers }) });

const hostsPass = Object.fromEntries(Object.keys(goodDomains).map((name) => [name, "pass"]));
const jobsPass = { "pay/bonus": "pass", "pay/report": "pass", "pay/by-hand": "pass" };

describe("item 9", () => {
  const all = { payments: "pass", ...hostsPass, ...jobsPass };
  it("passes", async () => {
    expect(await verdicts(timeService)).toEqual(all);
  });

  const good = goodTime();
  it.each([
    [
      "no daemon",
      { units: good.units!.replaceAll("ActiveState=active", "ActiveState=inactive") },
      "fail",
      /no time daemon runs/,
    ],
    [
      "a daemon that is not enabled",
      { units: good.units!.replaceAll("UnitFileState=enabled", "UnitFileState=disabled") },
      "fail",
      /would not start after a boot/,
    ],
    [
      "two daemons",
      {
        units: `${good.units}\nId=systemd-timesyncd.service\nLoadState=loaded\nActiveState=active\nUnitFileState=enabled\n`,
      },
      "fail",
      /both set the clock/,
    ],
    [
      "a daemon that asks one source",
      {
        units: "Id=systemd-timesyncd.service\nLoadState=loaded\nActiveState=active\nUnitFileState=enabled\n",
      },
      "fail",
      /does not compare 3 sources/,
    ],
    [
      "a clock that is not synchronised",
      { tracking: good.tracking!.replace("Normal", "Not synchronised") },
      "fail",
      /not synchronised/,
    ],
    [
      "an offset that chronyd itself admits",
      { tracking: good.tracking!.replace(",0.000012,", ",-0.7,") },
      "fail",
      /0.700 s off/,
    ],
    [
      "a chronyd that says that it is synchronised, and not how far off it is",
      { tracking: good.tracking!.replace(",0.000012,", ",?,") },
      "unknown",
      /chronyc does not print it/,
    ],
    [
      "two sources",
      { sources: [...good.sources!.trim().split("\n").slice(0, 2), unreachable(3), ""].join("\n") },
      "fail",
      /2 source\(s\) can be reached/,
    ],
    [
      "a chronyd that does not answer",
      { tracking: "506 Cannot talk to daemon\n", sources: "506 Cannot talk to daemon\n" },
      "unknown",
      /does not answer/,
    ],
    ["no chrony.conf that can be read", { conf: "" }, "unknown", /how it takes leap seconds is not known/],
    [
      "no systemd to ask",
      { units: "System has not been booted with systemd\n" },
      "unknown",
      /systemd does not say/,
    ],
  ])("%s: that host alone", async (_, change, verdict, message) => {
    const of = context(onHost("exec-1", { [keyOf(timeScript)]: sectionText(goodTime(change)) }));
    expect(await verdicts(timeService, of)).toEqual({ ...all, "exec-1": verdict });
    expect((await resultOf(timeService, "exec-1", of)).message).toMatch(message);
  });

  it.each([
    [
      "another zone",
      { zone: "/usr/share/zoneinfo/Asia/Shanghai\n" },
      /2 time zones: .*Asia\/Shanghai on exec-1/,
    ],
    ["another way of leap seconds", { conf: "leapsecmode step\n" }, /leap seconds are taken in 2 ways/],
  ])("%s on one host fails the cluster", async (_, change, message) => {
    const of = context(onHost("exec-1", { [keyOf(timeScript)]: sectionText(goodTime(change)) }));
    expect(await verdicts(timeService, of)).toEqual({ ...all, payments: "fail" });
    expect((await resultOf(timeService, "payments", of)).message).toMatch(message);
  });

  it("finds a database in another zone, schedulers with other zone data, a job with another zone", async () => {
    expect(await changed(timeService, "SET LOCAL TimeZone = 'Europe/Paris'")).toMatchObject({
      verdict: "fail",
      message: expect.stringMatching(/Europe\/Paris on the database/),
    });
    expect(
      await changed(
        timeService,
        "UPDATE escapement.scheduler SET time_zone_data = '2020a' WHERE node = 'scheduler-2'",
      ),
    ).toMatchObject({ verdict: "fail" });
    const job = await changed(
      timeService,
      `UPDATE escapement.job_version SET definition = jsonb_set(definition, '{timeZone}', '"Asia/Tokyo"') WHERE definition ->> 'name' = 'bonus'`,
      "pay/bonus",
    );
    expect(job).toMatchObject({ verdict: "fail", message: expect.stringMatching(/fires by Asia\/Tokyo/) });
  });

  it("says needs-vm of containers, and unknown of what cannot be reached", async () => {
    const contained = goodHosts().map((host) => ({ ...host, container: "systemd-nspawn" }));
    const found = await verdicts(timeService, context({ hosts: contained }));
    expect(found).toEqual({
      payments: "pass",
      ...jobsPass,
      ...Object.fromEntries(Object.keys(goodDomains).map((name) => [name, "unknown"])),
    });
    expect((await resultOf(timeService, "exec-1", context({ hosts: contained }))).message).toMatch(
      /^needs-vm/,
    );
    const of = context(onHost("exec-1", { [keyOf(timeScript)]: new Error("no route") }));
    expect(await verdicts(timeService, of)).toEqual({ ...all, "exec-1": "unknown" });
    expect(await verdicts(timeService, context({ hosts: [] }))).toMatchObject({ payments: "unknown" });
    expect(await verdicts(timeService, context({ store: "gone" }))).toMatchObject({ payments: "unknown" });
  });

  it("the script runs on a real machine", async () => {
    const real = fakeHost("here", [], {
      [keyOf(timeScript)]: execFileSync(timeScript[0]!, timeScript.slice(1), {
        encoding: "utf8",
        stdio: ["ignore", "pipe", "ignore"],
      }),
    });
    const { sections } = await gatherSections(real, timeScript);
    expect(sections.map(({ title }) => title)).toEqual([
      "hostname",
      "units",
      "tracking",
      "sources",
      "timedatectl",
      "conf",
      "zone",
    ]);
    expect(readTimeSections(sections).summary).toMatch(/zone/);
  });
});
