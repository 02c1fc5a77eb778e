/** The release of what runs now: this program's bundle and this Node. */
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { EscapementError } from "../../base/errors.ts";
import { packageRoot } from "../../lab/package-root.ts";
import { buildRelease, type Release } from "../../provision/deploy/release.ts";
import { shareArchive } from "../../provision/deploy/share-archive.ts";

/** @throws E_UNAVAILABLE where there is no bundle */
export function ownRelease(): Promise<Release> {
  const bundle = bundleFile();
  const screens = join(dirname(bundle), "ui.mjs");
  const data = dataFolder(dirname(bundle));
  return buildRelease({
    productVersion: process.env.ESCAPEMENT_VERSION ?? "0.0.0",
    bundleFile: bundle,
    ...(existsSync(screens) ? { screensFile: screens } : {}),
    ...(data === undefined ? {} : { share: shareArchive(data, dataFolders) }),
    nodeFile: process.execPath,
    arch: process.arch,
  });
}

/** What the program reads besides itself: drills of the timetable, for one, are run on a host that has a release only. */
const dataFolders = ["chaos", "playbooks", "profiles"] as const;

/** The folder that holds them: beside a deployed bundle, or above a built one. */
function dataFolder(from: string): string | undefined {
  const found = [from, dirname(from)].filter((folder) =>
    dataFolders.every((name) => existsSync(join(folder, name))),
  );
  return found[0];
}

/** This file, when it runs bundled; the built one, when it runs from the sources. */
function bundleFile(): string {
  const self = fileURLToPath(import.meta.url);
  if (self.endsWith("escapement.mjs")) return self;
  const root = packageRoot();
  const built = root === undefined ? undefined : join(root, "dist", "escapement.mjs");
  if (built !== undefined && existsSync(built)) return built;
  throw new EscapementError("E_UNAVAILABLE", {
    what: "there is no bundle to deploy",
    hint: "run npm run build first",
  });
}
