/** Item 2: nothing else on any host starts a job. */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { triggerAuthority } from "../../../src/checklist/items/02-trigger-authority.ts";
import { gatherSections } from "../../../src/checklist/items/host-sections.ts";
import { startsJob, triggerScript, userTimers } from "../../../src/checklist/items/other-triggers.ts";
import { type Answers, fakeHost, goodHosts, keyOf, quietTriggers, sectionText } from "../fake-host.ts";
import { goodDomains } from "../good-files.ts";
import { context, resultOf, verdicts } from "../item-scene.ts";

const hostsPass = Object.fromEntries(Object.keys(goodDomains).map((name) => [name, "pass"]));

describe("item 2 on hosts", () => {
  const with_ = (sections: Record<string, string>): Record<string, Answers> => ({
    "exec-2": { [keyOf(triggerScript)]: sectionText(quietTriggers("exec-2", sections)) },
  });

  it.each([
    [
      "a crontab",
      { "crontab /etc/cron.d/pay": "0 2 * * * pay node /opt/pay/bonus.mjs >/dev/null" },
      /crontab \/etc\/cron.d\/pay starts pay\/bonus/,
    ],
    [
      "a crontab of a user, from the job's folder",
      { "crontab /var/spool/cron/crontabs/pay": "0 2 * * * cd /opt/pay && ./report.sh" },
      /starts pay\/report/,
    ],
    [
      "a script of cron.daily",
      { "script /etc/cron.daily/pay": "#!/bin/sh\nexec /opt/pay/report.sh" },
      /starts pay\/report/,
    ],
    ["at", { "at 7": "cd /root\n/opt/pay/by-hand.sh" }, /at 7 starts pay\/by-hand/],
    [
      "a timer",
      {
        timers: "Id=pay.timer\nUnit=pay.service\nActiveState=active\n",
        services:
          "Id=pay.service\nExecStart={ path=/usr/bin/node ; argv[]=/usr/bin/node /opt/pay/bonus.mjs ; }\n",
      },
      /timer pay.timer starts pay\/bonus/,
    ],
    [
      "a timer of a user",
      { "user-timer /srv/pay/.config/systemd/user/pay.timer": "[Service]\nExecStart=/opt/pay/report.sh\n" },
      /user-timer \/srv\/pay\/\.config\/systemd\/user\/pay\.timer starts pay\/report/,
    ],
    [
      "our own command",
      { "crontab /etc/cron.d/pay": "0 2 * * * root escapement run pay/bonus --reason cron" },
      /starts pay\/bonus/,
    ],
    [
      "a scheduler of another cluster whose Node has options",
      {
        processes: "78 /usr/bin/node --max-old-space-size=99 /opt/other/escapement.mjs scheduler --cluster x",
      },
      /process 78 is a scheduler that is not in these records/,
    ],
    [
      "a scheduler of another cluster",
      { processes: "77 node /opt/other/escapement.mjs scheduler --cluster other.yaml" },
      /process 77 is a scheduler that is not in these records/,
    ],
  ])("fails on that host when there is %s", async (_, sections, message) => {
    const changed = context({ hosts: goodHosts(with_(sections)) });
    expect(await verdicts(triggerAuthority, changed)).toEqual({
      payments: "pass",
      ...hostsPass,
      "exec-2": "fail",
    });
    expect((await resultOf(triggerAuthority, "exec-2", changed)).message).toMatch(message);
  });

  it.each([
    [
      "a line that is commented out",
      { "crontab /etc/cron.d/pay": "# 0 2 * * * pay node /opt/pay/bonus.mjs" },
    ],
    [
      "a timer that does not run",
      {
        timers: "Id=pay.timer\nUnit=pay.service\nActiveState=inactive\n",
        services: "Id=pay.service\nExecStart={ argv[]=node /opt/pay/bonus.mjs ; }\n",
      },
    ],
  ])("passes with a remark when there is %s", async (_, sections) => {
    const found = await resultOf(triggerAuthority, "exec-2", context({ hosts: goodHosts(with_(sections)) }));
    expect(found).toMatchObject({
      verdict: "pass",
      message: expect.stringMatching(/switched off: .*pay\/bonus/),
    });
  });

  it("the script runs on a real machine, and its answer is whole", async () => {
    const real = fakeHost("here", [], {
      [keyOf(triggerScript)]: execFileSync(triggerScript[0]!, triggerScript.slice(1), {
        encoding: "utf8",
        stdio: ["ignore", "pipe", "ignore"],
        maxBuffer: 1 << 26,
      }),
    });
    expect(triggerScript.join(" ")).toContain(userTimers("cut -d: -f6 /etc/passwd | sort -u"));
    const { sections } = await gatherSections(real, triggerScript);
    expect(sections.map(({ title }) => title)).toEqual(expect.arrayContaining(["hostname", "processes"]));
    expect(sections.find(({ title }) => title === "processes")!.text).toMatch(
      new RegExp(`^${process.pid} `, "m"),
    );
  });
});

describe("timers of users", () => {
  const home = mkdtempSync(join(tmpdir(), "timers-"));
  afterAll(() => rmSync(home, { recursive: true }));

  it("the units that timers start are read, whatever starts others is not, and what is not found is told", async () => {
    const folder = join(home, ".config", "systemd", "user");
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "pay.timer"), "[Timer]\nOnCalendar=02:00\n");
    writeFileSync(join(folder, "pay.service"), "[Service]\nExecStart=/opt/pay/report.sh\n");
    writeFileSync(join(folder, "other.service"), "[Service]\nExecStart=/opt/pay/other.sh\n");
    writeFileSync(join(folder, "named.timer"), "[Timer]\nOnCalendar=02:00\nUnit=elsewhere.service\n");
    writeFileSync(join(folder, "elsewhere.service"), "[Service]\nExecStart=/opt/pay/bonus.sh\n");
    writeFileSync(join(folder, "pay@london.timer"), "[Timer]\nOnCalendar=02:00\n");
    writeFileSync(join(folder, "pay@.service"), "[Service]\nExecStart=/opt/pay/by-hand.sh %i\n");
    writeFileSync(join(folder, "alone.timer"), "[Timer]\nOnCalendar=02:00\n");
    const said = execFileSync(
      "sh",
      ["-c", `section() { printf '\\n== %s\\n' "$*"; }; ${userTimers(`echo ${home}`)}`],
      {
        encoding: "utf8",
      },
    );
    const sections = said.split("\n== ").slice(1).sort();
    expect(sections.map((one) => one.split("\n", 1)[0])).toEqual([
      `unread alone.service of ${folder}/alone.timer`,
      `user-timer ${folder}/named.timer`,
      `user-timer ${folder}/pay.timer`,
      `user-timer ${folder}/pay@london.timer`,
    ]);
    const started = sections.map((one) => /ExecStart=\/opt\/pay\/(\S+)/.exec(one)?.[1]);
    expect(started).toEqual([undefined, "bonus.sh", "report.sh", "by-hand.sh"]);
    expect(said).not.toMatch(/other\.sh/);
  });
});

describe("the same command", () => {
  const job = (...command: string[]) => ({ namespace: "default", name: "nightly", command });
  it.each([
    ["0 2 * * * /usr/bin/settle", job("settle"), false],
    ["0 2 * * * root settle --all", job("settle"), true],
    ["0 2 * * * sh -c 'psql -f x.sql | tee log'", job("sh", "-c", "psql -f x.sql | tee log"), true],
    ["0 2 * * * node other.mjs", job("node", "settle.mjs"), false],
    ["0 2 * * * node settle.mjs", job("node", "settle.mjs"), true],
    ["0 2 * * * /opt/b/my-bonus.sh", job("/opt/a/bonus.sh"), false],
    ["0 2 * * * /opt/b/bonus.sh", job("/opt/a/bonus.sh"), false],
    ["0 2 * * * cd /opt/a; ./bonus.sh", job("/opt/a/bonus.sh"), true],
    ["0 2 * * * java -jar /srv/pay.jar", job("java", "-Xmx1g", "-jar", "/srv/pay.jar"), true],
    ["0 2 * * * true", job("true"), false],
    ["0 2 * * * escapement once --job nightly -- x", job("true"), true],
    ["0 2 * * * escapement status # nightly", job("true"), false],
  ])("%s", (line, definition, expected) => {
    expect(startsJob(line, definition)).toBe(expected);
  });
});
