/**
 * The disk that all virtual machines of a lab start from: the root file system
 * of the hosts tier with a kernel of its own, as an ext4 image, and the packages
 * of the lab as a second, read-only one. Made without mounting a device.
 */
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { cached } from "../hosts/cache-entry.ts";
import type { PackageRepository } from "../hosts/package-repository.ts";
import { cacheKey, type PackageSource, packagesMount, rootKey } from "../hosts/root-image.ts";
import { mustRun } from "../hosts/run-program.ts";

/** Raise it when the steps of this file change what they make. */
const recipe = 2;

/** Room for PostgreSQL, Node and their data; only what is written takes space. */
const diskGib = 4;

/** Besides the root's own: a kernel for virtual machines, and an agent that runs commands past the network. */
const guestPackages = ["initramfs-tools", "lz4", "qemu-guest-agent"] as const;
const kernelPackage = "linux-image-cloud-amd64";

/** What the initial file system must know to find the disk. Few modules, so that an emulated machine boots in seconds. */
const modules = ["virtio_pci", "virtio_blk", "virtio_net", "virtio_console"] as const;

/** Slow under emulation, and nothing of a batch host. */
const maskedUnits = [
  "dev-hugepages.mount",
  "dev-mqueue.mount",
  "getty@tty1.service",
  "serial-getty@ttyS0.service",
  "sys-kernel-debug.mount",
  "sys-kernel-tracing.mount",
  "systemd-networkd-wait-online.service",
] as const;

/**
 * What the shipped profiles install. On an emulated machine that takes half a minute a package, which
 * a disk for prepared machines has behind it: there, and switched off but for chronyd.
 */
const preparedPackages = ["chrony", "keepalived", "nftables", "postgresql"] as const;

export interface VmImage {
  /** Tells images apart; part of what is made from one. */
  readonly key: string;
  readonly disk: string;
  readonly packages: string;
  readonly kernel: string;
  readonly initialDisk: string;
}

/** In a mount namespace of its own: nothing stays mounted. Arguments: layers, work, merged, mirror, suite, out, pool. */
const script = (prepared: boolean) => `set -e
layers=$1 work=$2 merged=$3 mirror=$4 suite=$5 out=$6
mount -t tmpfs -o size=4g tmpfs "$work"
mkdir "$work/upper" "$work/work"
mount -t overlay overlay -o "lowerdir=$layers,upperdir=$work/upper,workdir=$work/work" "$merged"
mount -t proc proc "$merged/proc"
mount --bind /dev "$merged/dev"
mkdir -p "$merged/tmp/apt/lists/partial" "$merged/etc/initramfs-tools/conf.d"
echo "deb [trusted=yes] $mirror $suite main" > "$merged/tmp/apt/sources.list"
[ ! -e /etc/resolv.conf ] || cp /etc/resolv.conf "$merged/etc/resolv.conf"
inside() { chroot "$merged" env DEBIAN_FRONTEND=noninteractive PATH=/usr/sbin:/usr/bin:/sbin:/bin "$@"; }
apt() {
  inside apt-get -qq -y -o Dir::Etc::sourcelist=/tmp/apt/sources.list -o Dir::Etc::sourceparts=/dev/null \\
    -o Dir::State::lists=/tmp/apt/lists -o APT::Sandbox::User=root -o APT::Install-Recommends=false "$@"
}
apt update
apt install ${guestPackages.join(" ")}
printf 'MODULES=list\\nCOMPRESS=lz4\\n' > "$merged/etc/initramfs-tools/conf.d/lab"
printf '%s\\n' ${modules.join(" ")} >> "$merged/etc/initramfs-tools/modules"
apt install ${kernelPackage}
inside systemctl mask ${maskedUnits.join(" ")}
${prepared ? prepare : ""}rm -rf "$merged/tmp/apt" "$merged/var/cache/apt/archives"/*.deb "$merged/etc/resolv.conf"
printf '/dev/vda / ext4 defaults,noatime 0 1\\n/dev/vdb ${packagesMount} ext4 ro,nofail 0 0\\n' > "$merged/etc/fstab"
mv "$merged"/boot/vmlinuz-* "$out/vmlinuz"
mv "$merged"/boot/initrd.img-* "$out/initrd"
umount "$merged/dev" "$merged/proc"
truncate -s ${diskGib}G "$out/disk.img"
mke2fs -q -t ext4 -d "$merged" "$out/disk.img"
`;

/**
 * From the lab's own packages, as a host would install them. Nothing is started, and at a boot chronyd
 * alone: its other name, which units of ours wait for, is there only while it is enabled.
 */
const prepare = `mount --bind "$7" "$merged${packagesMount}"
printf '#!/bin/sh\\nexit 101\\n' > "$merged/usr/sbin/policy-rc.d"
chmod 755 "$merged/usr/sbin/policy-rc.d"
inside apt-get -qq -y -o APT::Sandbox::User=root -o APT::Install-Recommends=false install ${preparedPackages.join(" ")}
rm "$merged/usr/sbin/policy-rc.d"
inside systemctl disable ${preparedPackages.filter((name) => name !== "chrony").join(" ")}
umount "$merged${packagesMount}"
`;

/** @param prepared with the packages of the shipped profiles. @throws E_LAB_STEP */
export async function vmImage(
  source: PackageSource,
  root: string,
  packages: PackageRepository,
  prepared = false,
): Promise<VmImage> {
  const key = cacheKey("vm", recipe, script(prepared), rootKey(source), packages.pool.split("/").at(-2));
  const folder = await cached(`vm-${key}`, async (unfinished) => {
    const [work, merged] = ["work", "merged"].map((name) => join(unfinished, name)) as [string, string];
    for (const path of [work, merged]) mkdirSync(path);
    await mustRun(
      [
        ...["unshare", "--mount", "--propagation=private", "sh", "-c", script(prepared), "sh"],
        ...[
          `${packages.lists}:${root}`,
          work,
          merged,
          source.mirror,
          source.suite,
          unfinished,
          packages.pool,
        ],
      ],
      { step: "making the disk of virtual machines", deadlineMs: 15 * 60_000 },
    );
    for (const path of [work, merged]) rmSync(path, { recursive: true });
    const image = join(unfinished, "packages.img");
    await mustRun(["truncate", "-s", "1500M", image]);
    await mustRun(["mke2fs", "-q", "-t", "ext4", "-d", packages.pool, image], {
      step: "making the disk of packages",
      deadlineMs: 120_000,
    });
  });
  return {
    key,
    disk: join(folder, "disk.img"),
    packages: join(folder, "packages.img"),
    kernel: join(folder, "vmlinuz"),
    initialDisk: join(folder, "initrd"),
  };
}
