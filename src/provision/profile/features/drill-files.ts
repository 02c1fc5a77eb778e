/** The files that let a host take drills. All are root's; the user of drills may run one program, and change nothing. */
import { fileHead } from "../make-resource.ts";
import { drillProgram } from "./drill-program.ts";

export const drillUser = "escapement-drill";
export const drillHome = "/var/lib/escapement-drill";
export const drillSettings = "/etc/escapement/drill";
export const drillProgramFile = "/usr/local/lib/escapement/drill";
export const cleanupUnit = "escapement-drill-cleanup.service";
const fillFile = ".escapement-drill-fill";

export interface DrillFile {
  readonly path: string;
  readonly content: string;
  /** Permission bits. */
  readonly mode: number;
  /** Judges a copy before it is put in place. */
  readonly validator?: { readonly name: string; readonly argv: readonly string[] };
}

export interface DrillRights {
  /** `ssh-ed25519 AAAA…` of whoever may begin drills. */
  readonly publicKey: string;
  /** Lines of the list: `fault kill`, `unit U`, `hold 600`, … */
  readonly allowed: readonly string[];
  /** Directories whose file system may be filled. */
  readonly paths: readonly string[];
}

/** @returns program, list, signers, login, sudo right, and what cleans up at boot */
export function drillFiles({ publicKey, allowed, paths }: DrillRights): readonly DrillFile[] {
  const [type = "", key = ""] = publicKey.trim().split(/\s+/);
  const lines = (...text: readonly string[]) => `${[fileHead, ...text].join("\n")}\n`;
  return [
    {
      path: drillProgramFile,
      content: drillProgram(),
      mode: 0o755,
      validator: { name: "sh -n", argv: ["sh", "-n", "{file}"] },
    },
    { path: `${drillSettings}/allowed`, content: lines(...allowed), mode: 0o644 },
    {
      path: `${drillSettings}/signers`,
      content: lines(`${drillUser} namespaces="escapement-drill" ${type} ${key}`),
      mode: 0o644,
    },
    {
      path: `${drillHome}/.ssh/authorized_keys`,
      content: lines(`restrict,command="sudo -n ${drillProgramFile}" ${type} ${key} escapement-drill`),
      mode: 0o644,
    },
    {
      path: `/etc/sudoers.d/${drillUser}`,
      content: lines(
        `Defaults:${drillUser} !requiretty, !lecture, env_keep += "SSH_ORIGINAL_COMMAND SSH_CONNECTION"`,
        "# The empty word: without arguments, and only so.",
        `${drillUser} ALL=(root) NOPASSWD: ${drillProgramFile} ""`,
      ),
      mode: 0o440,
      validator: { name: "visudo -c", argv: ["visudo", "-c", "-f", "{file}"] },
    },
    {
      path: `/etc/systemd/system/${cleanupUnit}`,
      content: lines(
        "[Unit]",
        "Description=Take back what a drill of an earlier boot has left",
        "ConditionDirectoryNotEmpty=/var/lib/escapement/drill/runs",
        "[Service]",
        "Type=exec",
        `ExecStart=${drillProgramFile} boot`,
        "[Install]",
        "WantedBy=multi-user.target",
      ),
      mode: 0o644,
    },
    ...(paths.length === 0
      ? []
      : [
          {
            path: "/etc/tmpfiles.d/escapement-drill.conf",
            content: lines(...paths.map((path) => `r! ${path}/${fillFile}`)),
            mode: 0o644,
          },
        ]),
  ];
}
