/**
 * What lets an unprivileged executor start jobs as other users: a list that
 * root owns, one program that reads it, and the right to start that program.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Resource } from "../../resource.ts";
import { computed, fromSetting, type HostContext } from "../host-context.ts";
import { directory, file, linesFile, packageOf } from "../make-resource.ts";
import { shippedProfiles } from "../shipped-profiles.ts";
import { executorUser, paths } from "./paths.ts";

const programFolder = "/usr/local/lib/escapement";
const program = `${programFolder}/run-job`;
const sudoers = "/etc/sudoers.d/escapement-executor";

export function jobUsers(context: HostContext): readonly Resource[] {
  const users = context.list("jobUsers");
  if (users?.value.includes("root"))
    context.note(
      "error",
      "jobUsers names root: a job never runs as root",
      context.host.settingPlace("jobUsers"),
    );
  const odd = users?.value.find((one) => !/^[a-z_][a-z0-9_.-]*$/i.test(one));
  if (odd !== undefined)
    context.note(
      "error",
      `jobUsers has ${JSON.stringify(odd)} in it, which is not the name of a user`,
      context.host.settingPlace("jobUsers"),
    );
  // The executor's own user runs the jobs that name nobody.
  const names = [executorUser, ...(users?.value ?? []).filter((one) => one !== executorUser)];
  return [
    packageOf("sudo"),
    linesFile(paths.jobUsers, {
      lines: ["# One user a line. Jobs run as nobody else.", ...names],
      risk: "high",
      after: [`directory:${paths.configuration}`],
      provenance: [
        users
          ? fromSetting("executor.jobUsers", users)
          : computed("executor.jobUsers", executorUser, "the inventory has no setting jobUsers"),
      ],
    }),
    directory(programFolder),
    file(program, {
      content: readFileSync(join(shippedProfiles(), "files", "run-job"), "utf8"),
      mode: 0o755,
      risk: "high",
      after: [`directory:${programFolder}`, `file:${paths.jobUsers}`],
      validator: { name: "sh -n", argv: ["sh", "-n", "{file}"] },
    }),
    linesFile(sudoers, {
      lines: [
        `Defaults:${executorUser} !requiretty, !lecture`,
        `${executorUser} ALL=(root) NOPASSWD: ${program}`,
      ],
      mode: 0o440,
      risk: "high",
      after: ["package:sudo", `user:${executorUser}`, `file:${program}`],
      validator: { name: "visudo -c", argv: ["visudo", "-c", "-f", "{file}"] },
      provenance: [computed("executor.sudo", program, "the only program the executor may start as root")],
    }),
  ];
}
