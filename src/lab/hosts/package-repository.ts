/**
 * The package source of the hosts: a folder that the lab fills once and every
 * host sees read-only, because a host of a lab has no way to the internet.
 *
 *   packages-KEY/pool        the packages, with everything they depend on, and their index
 *   packages-KEY/lists       a layer for the hosts: the index as apt has read it
 *   packages-KEY/time-source a layer with chrony unpacked, for the lab's own time source
 */
import { mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { cached } from "./cache-entry.ts";
import { offeredPackages } from "./image-packages.ts";
import { cacheKey, type PackageSource, packagesMount, rootKey } from "./root-image.ts";
import { mustRun } from "./run-program.ts";

/** Raise it when the steps of this file change what they make. */
const recipe = 2;

const keyring = "/usr/share/keyrings/debian-archive-keyring.gpg";

export interface PackageRepository {
  readonly pool: string;
  readonly lists: string;
  readonly timeSource: string;
}

/** @param root the root file system that the packages are to be installed on. @throws E_LAB_STEP */
export async function packageRepository(source: PackageSource, root: string): Promise<PackageRepository> {
  const key = cacheKey("packages", recipe, rootKey(source), offeredPackages);
  const folder = await cached(`packages-${key}`, async (unfinished) => {
    const place = placesIn(unfinished);
    for (const path of Object.values(place)) mkdirSync(path);
    await fetchPackages(source, root, unfinished, place.pool);
    await writeIndex(place.pool);
    await readIndex(root, unfinished, place);
    await unpackTimeSource(place);
  });
  return placesIn(folder);
}

function placesIn(folder: string): PackageRepository {
  return {
    pool: join(folder, "pool"),
    lists: join(folder, "lists"),
    timeSource: join(folder, "time-source"),
  };
}

/** Fetches each package with what it needs besides the root's own. One at a time: some exclude each other. */
async function fetchPackages(
  source: PackageSource,
  root: string,
  unfinished: string,
  pool: string,
): Promise<void> {
  const work = join(unfinished, "apt");
  for (const path of ["state/lists/partial", "cache/archives/partial"])
    mkdirSync(join(work, path), { recursive: true });
  const list = join(work, "sources.list");
  writeFileSync(list, `deb [signed-by=${keyring}] ${source.mirror} ${source.suite} main\n`, { mode: 0o600 });
  const options = {
    "Dir::Etc::sourcelist": list,
    "Dir::Etc::sourceparts": "/dev/null",
    "Dir::State": join(work, "state"),
    "Dir::State::status": join(root, "var/lib/dpkg/status"),
    "Dir::Cache": join(work, "cache"),
    "APT::Sandbox::User": "root",
    "APT::Install-Recommends": "false",
    "Debug::NoLocking": "true",
  };
  const apt = ["apt-get", "-qq", "-y", ...Object.entries(options).flatMap(([k, v]) => ["-o", `${k}=${v}`])];
  await mustRun([...apt, "update"], { step: "apt-get update", deadlineMs: 300_000 });
  for (const name of offeredPackages) {
    await mustRun([...apt, "install", "--download-only", name], {
      step: `apt-get install --download-only ${name}`,
      deadlineMs: 300_000,
    });
  }
  for (const name of readdirSync(join(work, "cache/archives")))
    if (name.endsWith(".deb")) renameSync(join(work, "cache/archives", name), join(pool, name));
  rmSync(work, { recursive: true });
}

async function writeIndex(pool: string): Promise<void> {
  const inPool = (argv: string[]) => ["env", "-C", pool, ...argv];
  const index = await mustRun(inPool(["apt-ftparchive", "packages", "."]), {
    step: "apt-ftparchive packages",
  });
  writeFileSync(join(pool, "Packages"), index);
  const release = await mustRun(inPool(["apt-ftparchive", "release", "."]), {
    step: "apt-ftparchive release",
  });
  writeFileSync(join(pool, "Release"), release);
}

/** Lets the apt of the root read the index once. In a mount namespace of its own: nothing stays mounted. */
async function readIndex(root: string, unfinished: string, place: PackageRepository): Promise<void> {
  const work = join(unfinished, "work");
  const merged = join(unfinished, "merged");
  for (const path of [work, merged]) mkdirSync(path);
  const script = `set -e
mount -t tmpfs tmpfs "$2"
mkdir "$2/upper" "$2/work"
mount -t overlay overlay -o "lowerdir=$1,upperdir=$2/upper,workdir=$2/work" "$3"
mount --bind "$4" "$3${packagesMount}"
chroot "$3" env PATH=/usr/sbin:/usr/bin:/sbin:/bin apt-get -qq -o APT::Sandbox::User=root update
mkdir -p "$5/var/lib/apt" "$5/var/cache"
cp -a "$2/upper/var/lib/apt/lists" "$5/var/lib/apt/"
`;
  await mustRun(
    [
      "unshare",
      "--mount",
      "--propagation=private",
      "sh",
      "-c",
      script,
      "sh",
      root,
      work,
      merged,
      place.pool,
      place.lists,
    ],
    { step: "apt-get update in the root file system", deadlineMs: 120_000 },
  );
  for (const path of [work, merged]) rmSync(path, { recursive: true });
}

/** What chronyd needs besides the root's own libraries; a name that the root has already is not in the pool. */
const timeSourcePackages =
  /^(chrony|libedit2|libbsd0|libnettle8|libhogweed6|libgnutls30|libgmp10|libidn2-0|libp11-kit0|libtasn1-6|libunistring2|libffi8|libseccomp2|libcap2)_/;

/** chrony and its libraries, unpacked but not installed. */
async function unpackTimeSource(place: PackageRepository): Promise<void> {
  for (const name of readdirSync(place.pool)) {
    if (timeSourcePackages.test(name))
      await mustRun(["dpkg-deb", "--extract", join(place.pool, name), place.timeSource]);
  }
  // Below the root `lib` is a link to `usr/lib`; a folder of that name would hide it.
  const script = `for d in bin sbin lib; do
  [ -d "$d" ] || continue
  mkdir -p "usr/$d" && cp -a "$d/." "usr/$d/" && rm -r "$d"
done`;
  await mustRun(["env", "-C", place.timeSource, "sh", "-e", "-c", script], { step: "unpacking chrony" });
}
