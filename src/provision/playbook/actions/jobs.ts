/** Actions and checks around jobs: their definitions, their programs, and the proof that one runs. */
import { createHash, randomBytes } from "node:crypto";
import { readdir, readFile, stat } from "node:fs/promises";
import { basename, dirname, isAbsolute, join } from "node:path";
import { z } from "zod";
import { EscapementError, messageOf } from "../../../base/errors.ts";
import { findFiles } from "../../../spec/find-files.ts";
import type { HostWorld } from "../host-world.ts";
import {
  type ActionEntry,
  type CheckEntry,
  defineAction,
  defineCheck,
  no,
  type StepContext,
  yes,
} from "../registry.ts";
import { askStore, toolkitDone } from "../toolkit.ts";

const none = z.strictObject({});
const settingArgs = z.strictObject({ setting: z.string().min(1) });
/** A first run of real work; `--wait` has no limit of its own. */
const runDeadlineMs = 30 * 60_000;
const uploadDeadlineMs = 120_000;

export const jobActions: readonly (readonly [string, ActionEntry<HostWorld>])[] = [
  [
    "copy-programs",
    defineAction(
      "copies the folder named by a setting to a folder of the same name below /opt/escapement-jobs",
      settingArgs,
      async ({ world, host }, { setting }) => {
        const folder = pathSetting(world, host.name, setting)[0];
        if (folder === undefined) return `the inventory has no setting ${setting}`;
        const names = (await readdir(folder)).sort();
        let copied = 0;
        for (const name of names) {
          const file = join(folder, name);
          if (!(await stat(file)).isFile()) continue;
          const bytes = await readFile(file);
          const path = `/opt/escapement-jobs/${basename(folder)}/${name}`;
          await put(world, host.name, path, bytes);
          copied += 1;
        }
        return `${copied} file(s)`;
      },
    ),
  ],
  [
    "create-job-database",
    defineAction(
      "makes the database that jobs write to, named by the setting jobDatabase, from the file of jobDatabaseFile",
      none,
      async ({ world, host }) => {
        const name = world.setting(host.name, "jobDatabase");
        const [file] = pathSetting(world, host.name, "jobDatabaseFile");
        if (name === undefined || file === undefined)
          return "the inventory has no settings jobDatabase and jobDatabaseFile";
        return makeJobDatabase(world, host.name, String(name), await readFile(file, "utf8"));
      },
    ),
  ],
  [
    "apply-jobs",
    defineAction(
      "applies the job files named by a setting",
      settingArgs,
      async ({ world, host }, { setting }) => {
        const paths = pathSetting(world, host.name, setting);
        if (paths.length === 0) return `the inventory has no setting ${setting}`;
        const { files, problems } = await findFiles(paths);
        if (problems[0])
          throw new EscapementError("E_BAD_DATA", {
            what: `setting ${setting}: ${problems[0].file} ${problems[0].message}`,
            hint: "mend the setting in the inventory",
          });
        const place = `/run/escapement-jobs-${randomBytes(6).toString("hex")}`;
        try {
          for (const [i, file] of files.entries())
            await put(
              world,
              host.name,
              `${place}/${String(i).padStart(4, "0")}-${basename(file)}`,
              await readFile(file),
            );
          const args = ["jobs", "apply", place, "--reason", world.reason, "--by", world.person];
          const answer = await toolkitDone(world, host.name, args, { as: "owner" });
          const { applied } = z.object({ applied: z.array(z.object({ outcome: z.string() })) }).parse(answer);
          return `${applied.length} job(s), ${applied.filter((one) => one.outcome !== "unchanged").length} changed`;
        } finally {
          await world.run(host.name, ["rm", "-rf", place]).catch(() => {});
        }
      },
    ),
  ],
  [
    "run-job",
    defineAction(
      "runs the job named by a setting by hand and waits for its end",
      settingArgs,
      async ({ world, host }, { setting }) => {
        const job = world.setting(host.name, setting);
        if (job === undefined) return `the inventory has no setting ${setting}`;
        const args = ["run", String(job), "--wait", "--reason", world.reason, "--by", world.person];
        const answer = (await toolkitDone(world, host.name, args, { deadlineMs: runDeadlineMs })) as {
          status?: string;
          fireTime?: string;
        };
        return `${job} at ${answer.fireTime}: ${answer.status}`;
      },
    ),
  ],
];

export const jobChecks: readonly (readonly [string, CheckEntry<HostWorld>])[] = [
  [
    "job-has-succeeded",
    defineCheck(
      "whether the job named by a setting has ever succeeded",
      settingArgs,
      async (context, { setting }) => succeeded(context, setting),
    ),
  ],
  [
    "nothing-overdue",
    defineCheck("whether no planned execution is late by more than a minute", none, async ({ world }) => {
      const { json } = await askStore(world, ["status"], { looks: true });
      const { backlog } = z.object({ backlog: z.object({ mostLateMs: z.number().nullable() }) }).parse(json);
      const late = backlog.mostLateMs ?? 0;
      return late <= 60_000
        ? yes("nothing is overdue")
        : no(`the oldest due execution is ${Math.round(late / 1000)} s late`);
    }),
  ],
];

async function succeeded({ world, host }: StepContext<HostWorld>, setting: string) {
  const job = world.setting(host.name, setting);
  if (job === undefined) return yes(`the inventory has no setting ${setting}: there is nothing to prove`);
  const answer = await askStore(world, ["executions", "--job", String(job), "--status", "success"], {
    looks: true,
  });
  if (answer.error) return no(answer.error.message);
  const { executions } = z
    .object({ executions: z.array(z.object({ fireTime: z.string() })) })
    .parse(answer.json);
  const [latest] = executions;
  return latest ? yes(`${job} succeeded at ${latest.fireTime}`) : no(`${job} has not succeeded yet`);
}

/** Under another name until it is whole, so that one that was cut short is not taken for it. */
const databaseScript = `set -eu
cd /
psql() { runuser -u postgres -- psql -X -q -A -t -v ON_ERROR_STOP=1 "$@"; }
if [ "$(psql -d postgres -c "SELECT count(*) FROM pg_database WHERE datname = '$1'")" = 1 ]; then echo there; exit 0; fi
psql -d postgres -c "DROP DATABASE IF EXISTS $1_new"
psql -d postgres -c "CREATE DATABASE $1_new"
psql -d "$1_new" --single-transaction -f -
psql -d postgres -c "ALTER DATABASE $1_new RENAME TO $1"
echo made`;

async function makeJobDatabase(
  world: HostWorld,
  host: string,
  name: string,
  statements: string,
): Promise<string> {
  if (!/^[a-z][a-z0-9_]{0,50}$/.test(name))
    throw new EscapementError("E_REFUSED", {
      what: `the setting jobDatabase is ${name}`,
      hint: "write lower-case letters, digits and underscores",
    });
  const { exitCode, stdout, stderr } = await world.run(host, ["sh", "-c", databaseScript, "sh", name], {
    stdin: statements,
    deadlineMs: runDeadlineMs,
  });
  if (exitCode === 0) return `${name} ${stdout.trim() === "made" ? "made" : "was there"}`;
  throw new EscapementError("E_REFUSED", {
    what: `${host}: ${name}: ${stderr.trim().split("\n")[0]}`,
    hint: "mend the file and run the playbook again; nothing of it was kept",
  });
}

/** Paths of a setting, relative ones from the inventory's folder. */
function pathSetting(world: HostWorld, host: string, name: string): string[] {
  const value = world.setting(host, name);
  if (value === undefined) return [];
  const folder = dirname(world.inventory.file);
  return (Array.isArray(value) ? value : [value]).map((one) =>
    isAbsolute(String(one)) ? String(one) : join(folder, String(one)),
  );
}

async function put(world: HostWorld, host: string, path: string, bytes: Uint8Array): Promise<void> {
  const { exitCode, stderr } = await world.run(host, ["mkdir", "-p", "-m", "0755", dirname(path)]);
  if (exitCode !== 0)
    throw new EscapementError("E_REFUSED", {
      what: `${host}: ${messageOf(stderr.trim())}`,
      hint: "make room, or mend the folder",
    });
  await world.upload(host, {
    content: { bytes },
    path,
    mode: 0o644,
    sha256: createHash("sha256").update(bytes).digest("hex"),
    asRoot: true,
    deadlineMs: uploadDeadlineMs,
  });
}
