/**
 * The root file system that all hosts share, read-only, below a layer of their
 * own: a bare Debian server, made once by debootstrap.
 */
import { createHash } from "node:crypto";
import { chmodSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { EscapementError } from "../../base/errors.ts";
import { cached } from "./cache-entry.ts";
import { rootPackages } from "./image-packages.ts";
import { mustRun, runProgram } from "./run-program.ts";

/** Raise it when the steps of this file change what they make. */
const recipe = 1;

/** Where a host sees the packages that it can install. */
export const packagesMount = "/srv/lab-packages";

/** What a host starts as its first process. */
export const initPath = "/usr/local/sbin/lab-init";

/**
 * systemd-nspawn hands over the hierarchies of version 1 read-only, and limits of
 * units would silently not hold; on version 2 there is nothing to do.
 */
const initScript = `#!/bin/sh
for controller in memory pids; do
  mount -o remount,rw,bind "/sys/fs/cgroup/$controller" 2>/dev/null || :
done
exec /lib/systemd/systemd "$@"
`;

export interface PackageSource {
  readonly mirror: string;
  /** Code name of the Debian release. */
  readonly suite: string;
}

/** Units that a host in a namespace cannot run, or that would take the package lock at odd times. */
const maskedUnits = [
  "apt-daily.timer",
  "apt-daily-upgrade.timer",
  "console-getty.service",
  "dpkg-db-backup.timer",
  "e2scrub_all.timer",
  "e2scrub_reap.service",
  "fstrim.timer",
];

/**
 * The release and mirror that this machine itself installs from;
 * ESCAPEMENT_LAB_MIRROR and ESCAPEMENT_LAB_SUITE name another one.
 * @throws E_UNAVAILABLE where there is none
 */
export async function packageSource(): Promise<PackageSource> {
  const found = await ownSource();
  const mirror = process.env.ESCAPEMENT_LAB_MIRROR || found?.mirror;
  const suite = process.env.ESCAPEMENT_LAB_SUITE || found?.suite;
  if (mirror && suite) return { mirror, suite };
  throw new EscapementError("E_UNAVAILABLE", {
    what: "this machine has no Debian package source to make hosts from",
    hint: "set ESCAPEMENT_LAB_MIRROR (URL) and ESCAPEMENT_LAB_SUITE (code name)",
  });
}

async function ownSource(): Promise<PackageSource | undefined> {
  const format = "$(ORIGIN)|$(LABEL)|$(COMPONENT)|$(CODENAME)|$(REPO_URI)";
  const result = await runProgram(["apt-get", "indextargets", "--format", format, "Created-By: Packages"]);
  for (const line of result.stdout.split("\n")) {
    const [origin, label, component, suite = "", mirror = ""] = line.split("|");
    if (origin === "Debian" && label === "Debian" && component === "main" && /^[a-z]+$/.test(suite))
      return { mirror, suite };
  }
  return undefined;
}

/** The first letters of a digest over everything that decides what is built. */
export function cacheKey(...parts: readonly unknown[]): string {
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex").slice(0, 16);
}

export function rootKey(source: PackageSource): string {
  return cacheKey("root", recipe, source, rootPackages, maskedUnits);
}

/** The folder of the root file system; building it takes minutes. @throws E_LAB_STEP */
export function rootImage(source: PackageSource): Promise<string> {
  return cached(`root-${rootKey(source)}`, async (folder) => {
    await mustRun(
      [
        "debootstrap",
        "--variant=minbase",
        `--include=${rootPackages.join(",")}`,
        source.suite,
        folder,
        source.mirror,
      ],
      {
        step: "debootstrap",
        deadlineMs: 18 * 60_000,
        environment: { DEBIAN_FRONTEND: "noninteractive" },
      },
    );
    await makeBare(folder);
  });
}

async function makeBare(root: string): Promise<void> {
  chmodSync(root, 0o755);
  const inside = ["chroot", root, "env", "PATH=/usr/sbin:/usr/bin:/sbin:/bin"];
  await mustRun([...inside, "useradd", "--create-home", "--shell", "/bin/bash", "--groups", "sudo", "ops"]);
  await mustRun([...inside, "systemctl", "mask", ...maskedUnits]);
  await mustRun([...inside, "systemctl", "set-default", "multi-user.target"]);
  await mustRun([...inside, "apt-get", "clean"]);
  // A host finds its packages in one place, and no other.
  for (const list of ["etc/apt/sources.list.d", "var/lib/apt/lists"]) empty(join(root, list));
  writeFileSync(join(root, "etc/apt/sources.list"), `deb [trusted=yes] file:${packagesMount} ./\n`);
  mkdirSync(join(root, packagesMount.slice(1)), { recursive: true });
  // What no two hosts share.
  for (const file of ["etc/hostname", "etc/machine-id", "etc/resolv.conf", "var/lib/dbus/machine-id"])
    rmSync(join(root, file), { force: true });
  for (const name of readdirSync(join(root, "etc/ssh"))) {
    if (name.startsWith("ssh_host_")) rmSync(join(root, "etc/ssh", name));
  }
  writeFileSync(join(root, "etc/machine-id"), "");
  writeFileSync(join(root, initPath.slice(1)), initScript, { mode: 0o755 });
}

function empty(folder: string): void {
  for (const name of readdirSync(folder)) rmSync(join(folder, name), { recursive: true });
}
