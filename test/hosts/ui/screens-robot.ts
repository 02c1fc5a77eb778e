/**
 * What people come to the screens for, done by a robot that sees nothing but the
 * screen and does nothing but press keys: on a cluster of real hosts, which another
 * file has put up. About two minutes.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import type { HostLab } from "../../../src/lab/hosts/host-lab.ts";
import { Database } from "../../../src/store/database.ts";
import { PtySession } from "../../support/terminal.ts";
import { until } from "../../support/until.ts";
import type { DrilledSite } from "../drill/drilled-site.ts";
import type { OwnCopy } from "../playbook/own-copy.ts";
import { shell } from "../provision/lab-targets.ts";

const password = "only-in-this-lab";
const limitMs = 600_000;
const patientMs = 240_000;
/** On each executor: as long as it is not there, a shard fails. */
const flag = "/opt/bank-2-answers";

const undrifted = /drift +(\d+: )?[?✓] /;

const common = {
  timeZone: "UTC",
  misfire: { policy: "run-now", threshold: "1h" },
  catchUp: { maxFires: 5, keep: "oldest" },
  lease: "30s",
  timeout: "10m",
  resources: { class: "cpu", peakMemory: "8MiB" },
  retry: { maxAttempts: 3, delays: ["1s"] },
  effects: [{ kind: "message", target: "log", key: "shard", mode: "insert", sources: ["robot"] }],
  onStoreLoss: "kill",
};

const jobs: Readonly<Record<string, Record<string, unknown>>> = {
  banks: {
    command: [
      "/bin/sh",
      "-c",
      `test "$ESCAPEMENT_SHARD_NO" != 2 || test -e ${flag} || { echo bank 2 does not answer >&2; exit 7; }`,
    ],
    schedule: { manual: true },
    shards: { by: "hash", count: 4, key: "bank" },
    blocking: { policy: "allow" },
  },
  // Its first fire never ends, so that every other one is refused.
  "nightly-report": {
    command: ["/bin/sleep", "600"],
    schedule: { cron: "*/10 * * * * *" },
    shards: { by: "none" },
    blocking: { policy: "forbid" },
  },
};

/** Registers the tests, within the describe block of whoever has put up the site. */
export function testScreens(at: () => { lab: HostLab; own: OwnCopy; site: DrilledSite }): void {
  let store: Database;
  let url = "";
  let session: PtySession | undefined;

  /** An operator at a terminal of 130 × 40, once all jobs are there. */
  const sitDown = async (): Promise<PtySession> => {
    const { own, site } = at();
    session = new PtySession({
      columns: 130,
      rows: 40,
      command: [
        process.execPath,
        join(own.folder, "bin/escapement.mjs"),
        ...["ui", "--operator", "--cluster", site.clusterFile, "-i", site.inventory, ...site.profiles],
      ],
      environment: { ESCAPEMENT_SCREENS_STORE_URL: url },
    });
    await session.shows(/of [\d,]+ due, [\d,]+ to come/, patientMs);
    return session;
  };
  const escapement = async (...args: string[]) => {
    const { status, stdout, stderr } = await at().own.run([...args, "--url", url]);
    expect(status, `${args.join(" ")}: ${stdout}${stderr}`).toBeLessThan(2);
  };
  const inStore = (what: string, statement: string) =>
    until(async () => (await store.query(statement)).rows[0], {
      what,
      deadlineMs: patientMs,
      everyMs: 250,
    }).catch((error: Error) => {
      throw new Error(`${error.message}; the screen was:\n${session?.text()}`, { cause: error });
    });

  beforeAll(async () => {
    const { lab, site } = at();
    const host = lab.hosts.find(({ profile }) => profile === "record-store")!;
    await shell(
      lab,
      host.name,
      `runuser -u postgres -- psql -XAtq -d escapement <<'SQL'
CREATE ROLE robot LOGIN PASSWORD '${password}';
DO $$ BEGIN EXECUTE format('GRANT %I TO robot', (SELECT nspowner::regrole::text FROM pg_namespace WHERE nspname = 'escapement')); END $$;
SQL`,
    );
    url = `postgresql://robot:${password}@${host.address}:5432/escapement`;
    store = new Database(url, { maxConnections: 2 });
    for (const [name, spec] of Object.entries(jobs)) {
      const file = join(site.folder, `${name}.json`);
      const job = {
        apiVersion: "escapement/v1",
        kind: "Job",
        metadata: { name },
        spec: { ...common, ...spec },
      };
      writeFileSync(file, JSON.stringify(job));
      await escapement("jobs", "apply", file, "--reason", "test");
    }
  }, limitMs);
  afterEach(async () => {
    await session?.dispose();
    session = undefined;
  });
  afterAll(() => store?.end());

  test(
    "finds the job that did not run, and why",
    async () => {
      const robot = await sitDown();
      await robot.shows(/⊘ blocked +\d\d:\d\d +nightly-report/, patientMs);
      robot.press("/", "nightly", "\r", "\r");
      const screen = await robot.shows(/nightly-report at .*Z[\s\S]*⊘ blocked[\s\S]*why +\S/, patientMs);
      expect(/why +(\S.*?) +│/.exec(screen)![1]).toMatch(/forbid|still|unfinished|earlier|running/i);
      await escapement("jobs", "delete", "nightly-report", "--reason", "seen");
    },
    limitMs,
  );

  test(
    "reruns a failed shard, once the cause is gone",
    async () => {
      const { lab } = at();
      await escapement("run", "banks", "--wait", "--reason", "test");
      const robot = await sitDown();
      await robot.shows(/✗ failed +\d\d:\d\d +banks/, patientMs);
      robot.press("/", "banks", "\r", "\r");
      await robot.shows(/✗ failed 1 +✓ success 3[\s\S]*▸ +2 +✗ failed/, patientMs);
      for (const { name, profile } of lab.hosts)
        if (profile.startsWith("executor")) await shell(lab, name, `touch ${flag}`);
      robot.press("F", "bank 2 is back\r", "banks\r");
      await robot.shows(/status +✓ success +run 2/, patientMs);
      expect(
        await inStore(
          "the deed",
          "SELECT reason FROM escapement.operation ORDER BY operation_id DESC LIMIT 1",
        ),
      ).toEqual({ reason: "bank 2 is back" });
    },
    limitMs,
  );

  test(
    "sees facts and drift of a host, plans it, applies it",
    async () => {
      const { lab } = at();
      const robot = await sitDown();
      robot.press("3");
      // What a container can never have is unknown; nothing is otherwise than it should be.
      await robot.shows(undrifted, patientMs);
      const file = await shell(lab, "exec-1", "ls /etc/escapement/cluster.yaml");
      await shell(lab, "exec-1", `echo '# by hand' >> ${file.trim()}`);
      robot.press("/", "exec-1", "\r", "i");
      await robot.shows(/drift +(\d+: )?✗ .*cluster.yaml/, patientMs);
      robot.press("P", "exec-1\r");
      await robot.shows(/✓ escapement plan exec-1/, patientMs);
      robot.press("A", "exec-1\r");
      await robot.shows(/✓ escapement apply exec-1/, patientMs);
      expect(await shell(lab, "exec-1", `grep -c 'by hand' ${file.trim()} || true`)).toMatch(/^0/);
      robot.press("i");
      await robot.shows(undrifted, patientMs);
    },
    limitMs,
  );

  test(
    "reads the evidence of a failing item of the checklist",
    async () => {
      const robot = await sitDown();
      robot.press("5", "R", "yes\r");
      await robot.shows(/Checklist: \d+ of \d+ pass/, patientMs);
      robot.press("/", "!pass", "\r", "\r");
      await robot.shows(
        /╭─ \d+\. [\s\S]*(✗ fail|\? unknown)[\s\S]*(query|computed|command|file|drill)/,
        patientMs,
      );
    },
    limitMs,
  );

  test(
    "starts a drill, sees its fault, halts it, and lifts the halt",
    async () => {
      // What this file let fail on purpose is a critical alert by now, and a drill would rightly not begin.
      const { own } = at();
      const drill = join(own.folder, "chaos/pause-executor.yaml");
      writeFileSync(drill, `${readFileSync(drill, "utf8")}  steadyState: { noCriticalAlerts: false }\n`);
      await escapement("jobs", "delete", "nightly-report", "--reason", "in the way of a drill");
      const robot = await sitDown();
      robot.press("4", "R", "\x15", "pause-executor\r", "break it\r");
      await robot.shows(/▸ pause-executor[\s\S]*▸ fault \d+s/, patientMs);
      robot.press("H", "customers call\r", "halt\r");
      await robot.shows(/⊘ halted by .*customers call/, patientMs);
      expect(
        await inStore(
          "the end of the run",
          "SELECT verdict, restored_at IS NOT NULL AS restored FROM escapement.drill_run WHERE drill LIKE 'pause-executor%' AND reason LIKE 'halted by %' AND ended_at IS NOT NULL",
        ),
      ).toEqual({ verdict: "unknown", restored: true });
      await robot.shows(/escapement drill run .*: /, patientMs);
      robot.press("R");
      await robot.shows(/not now, drills are halted by/);
      robot.press("\x1b", "U", "they are calm\r", "resume\r");
      await inStore(
        "no halt",
        "SELECT 1 WHERE NOT EXISTS (SELECT 1 FROM escapement.drill_halt WHERE lifted_at IS NULL)",
      );
    },
    limitMs,
  );
}
