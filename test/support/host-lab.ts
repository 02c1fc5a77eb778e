/** Real hosts for a test file: put up before its tests, taken down after them, whatever happened in between. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll } from "vitest";
import { whyNoHosts } from "../../src/lab/hosts/capabilities.ts";
import { countedHosts, namedHosts } from "../../src/lab/hosts/default-hosts.ts";
import { HostLab } from "../../src/lab/hosts/host-lab.ts";
import { takeDownAbandoned } from "../../src/lab/hosts/take-down.ts";
import { unavailable } from "./tier.ts";

/** The first lab of a machine builds its root file system. */
const upLimitMs = 20 * 60_000;

const reason = await whyNoHosts();

/** For `describe.skipIf(noHosts)`. With ESCAPEMENT_REQUIRE_ALL=1 a machine without hosts fails the file. */
export const noHosts = unavailable(`hosts (${reason})`, reason === undefined);

export interface HostLabOptions {
  /** How many of the six of a whole cluster, or their names. Default: all six. */
  readonly hosts?: number | readonly string[];
  /** Which of them are virtual machines. Default: none. */
  readonly virtual?: readonly string[];
  /** The virtual ones have the packages of the shipped profiles already. */
  readonly prepared?: boolean;
}

let count = 0;

/**
 * A lab of its own for the tests of this file, or of the describe block it is called in.
 * @returns what gives the lab, from `beforeAll` on
 */
export function hostLab(options: HostLabOptions = {}): () => HostLab {
  const wanted = options.hosts ?? 6;
  let folder: string | undefined;
  let lab: HostLab | undefined;
  beforeAll(async () => {
    if (noHosts) return;
    await takeDownAbandoned();
    count += 1;
    folder = mkdtempSync(join(tmpdir(), "escapement-host-lab-"));
    lab = await HostLab.up({
      name: `t${process.pid}-${count}`,
      hosts: (typeof wanted === "number" ? countedHosts(wanted) : namedHosts(wanted)).map((host) =>
        options.virtual?.includes(host.name) ? { ...host, machine: "virtual" } : host,
      ),
      folder,
      owned: true,
      prepared: options.prepared ?? false,
    });
  }, upLimitMs);
  afterAll(async () => {
    await lab?.down();
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  }, 120_000);
  return () => {
    if (lab === undefined)
      throw new Error("the lab is there from beforeAll on, and only where there are hosts");
    return lab;
  };
}
