/**
 * What lets an unprivileged executor start jobs as other users: a list that
 * root owns, one program that reads it, and the right to start that program.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Resource } from "../../resource.ts";
import { computed, fromSetting, type HostContext } from "../host-context.ts";
import {
  directory,
  existingUser,
  file,
  linesFile,
  packageOf,
  systemGroup,
  systemUser,
} from "../make-resource.ts";
import { shippedProfiles } from "../shipped-profiles.ts";
import { executorUser, jobUser, paths } from "./paths.ts";

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
  // Never the executor's own user, which can read the URL of the record store.
  const names = [jobUser, ...(users?.value ?? []).filter((one) => one !== jobUser)];
  return [
    packageOf("sudo"),
    systemGroup(jobUser),
    systemUser(jobUser),
    ...names.slice(1).map((name) => existingUser(name)),
    linesFile(paths.jobUsers, {
      lines: ["# One user a line. Jobs run as nobody else.", ...names],
      risk: "high",
      after: [`directory:${paths.configuration}`],
      provenance: [
        users
          ? fromSetting("executor.jobUsers", users)
          : computed("executor.jobUsers", jobUser, "the inventory has no setting jobUsers"),
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
