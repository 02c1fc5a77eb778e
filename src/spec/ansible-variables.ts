/** What Ansible's variables and group names mean to us. */
import type { AnsibleVariables } from "./ansible-inventory-model.ts";
import type { Settings, SettingValue } from "./inventory-definition.ts";
import { localPath } from "./resolve-inventory.ts";

/** Never read, so that nobody relies on them. */
export const passwordVariables = [
  "ansible_password",
  "ansible_ssh_pass",
  "ansible_become_password",
  "ansible_become_pass",
  "ansible_sudo_pass",
] as const;

/** Variables of our own that are not settings. */
const reserved = new Set([
  "escapement_profile",
  "escapement_failure_domain",
  "escapement_jump",
  "escapement_sudo_password_file",
  "escapement_known_hosts_file",
  "escapement_cluster",
]);

/** Groups of these names, with - or _ and in singular or plural, give their hosts the profile. */
const profiles = ["scheduler", "executor-cpu", "executor-memory", "executor-io", "record-store", "watchman"];

/** @returns the profiles that the groups name, each once */
export function profileOfGroups(groups: readonly string[]): readonly string[] {
  const singular = (group: string) => {
    const name = group.toLowerCase().replaceAll("_", "-");
    return name === "watchmen" ? "watchman" : name.replace(/s$/, "");
  };
  const named = new Set(groups.map(singular));
  return profiles.filter((profile) => named.has(profile));
}

/** `escapement_virtual_ip` is the setting virtualIp. Values that are neither on one line nor lists of such are left out. */
export function settingsOfVariables(variables: AnsibleVariables, folder: string): Settings {
  const settings: Record<string, SettingValue> = {};
  for (const [key, { value }] of variables) {
    if (!/^escapement_[a-z][a-z0-9_]*$/.test(key) || reserved.has(key)) continue;
    const name = key
      .slice("escapement_".length)
      .replace(/_+([a-z0-9])/g, (_, next: string) => next.toUpperCase());
    if (!isSetting(value)) continue;
    settings[name] =
      name.endsWith("File") && typeof value === "string" && value !== "" ? localPath(value, folder) : value;
  }
  return settings;
}

function isSetting(value: unknown): value is SettingValue {
  const plain = (one: unknown) =>
    typeof one === "string" ? /^\P{Cc}*$/u.test(one) : ["number", "boolean"].includes(typeof one);
  return plain(value) || (Array.isArray(value) && value.every(plain));
}

/** The jump hosts in arguments for ssh: -J, -o ProxyJump=, or a ProxyCommand that is no more than ssh -W. */
export function jumpOfArguments(written: string): readonly string[] | undefined {
  const jump = /(?:^|\s)(?:-J\s*|-o\s*["']?ProxyJump[= ]\s*)["']?([^\s"']+)/i.exec(written);
  if (jump) return jump[1]!.split(",");
  const command = /ProxyCommand=["']?ssh\s([^"']*)/i.exec(written)?.[1];
  if (command === undefined || !/-W\s*%h:%p/.test(command)) return undefined;
  const port = /-p\s*(\d+)/.exec(command)?.[1];
  const words = command
    .replace(/-W\s*%h:%p|-p\s*\d+|-q\b/g, " ")
    .split(/\s+/)
    .filter((word) => word !== "");
  if (words.length !== 1 || words[0]!.startsWith("-")) return undefined;
  return [port === undefined ? words[0]! : `${words[0]}:${port}`];
}
