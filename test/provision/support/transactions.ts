/** Transactions on hosts in folders: an old host, what it should become, and the way there. */
import { symlinkSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { afterEach } from "vitest";
import { type ApplyOptions, applyBundle } from "../../../src/provision/bundle/apply-bundle.ts";
import { readBundle } from "../../../src/provision/bundle/read-bundle.ts";
import { Reading } from "../../../src/provision/bundle/reading.ts";
import { confirmBundle } from "../../../src/provision/bundle/settle-bundle.ts";
import { type HostPlan, planHost } from "../../../src/provision/plan/host-plan.ts";
import { probesOf } from "../../../src/provision/plan/judge.ts";
import type { Resource } from "../../../src/provision/resource.ts";
import { FakeHost } from "./fake-host.ts";
import { directory, file, restart, unit } from "./resources.ts";

const hosts: FakeHost[] = [];
afterEach(() => {
  for (const host of hosts.splice(0)) host.remove();
});

export function host(from?: FakeHost): FakeHost {
  const made = new FakeHost(from);
  hosts.push(made);
  return made;
}

export async function plan(on: FakeHost, resources: readonly Resource[]): Promise<HostPlan> {
  const answer = await on.run(readBundle(probesOf(resources), { paths: on.paths, path: on.bin }));
  if ("lost" in answer) throw new Error(answer.lost);
  return planHost("h1", resources, new Reading(answer.facts, on.paths));
}

/** The result word, and everything the host said; "killed" where it said nothing. */
export async function apply(
  on: FakeHost,
  planned: HostPlan,
  more: Partial<ApplyOptions> = {},
): Promise<string[]> {
  const resources = planned.entries.map(({ resource }) => resource);
  const options = { id: "20260101T000000Z-a", confirmSeconds: 60, path: on.bin, ...more };
  const answer = await on.run(applyBundle(planned, probesOf(resources), options));
  return "lost" in answer ? ["killed"] : [...answer.facts];
}

export const confirm = (on: FakeHost, id = "20260101T000000Z-a") =>
  on.run(confirmBundle(id, { paths: on.paths, path: on.bin }));

/** A host whose three files, link and two services all change. */
export function old(): FakeHost {
  const on = host();
  on.write("/etc/one.conf", "one old\n", 0o600);
  on.write("/etc/gone.conf", "to be removed\n");
  on.write("/etc/real", "behind a link\n");
  symlinkSync("real", join(on.root, "etc/link.conf"));
  on.write("/etc/b.conf", "b old\n");
  on.service("one.service", "/etc/one.conf");
  on.service("two.service", "/etc/deep/er/two.conf", { file: "disabled", active: "inactive" });
  on.service("three.service", "/etc/b.conf");
  for (const path of ["etc/one.conf", "etc/gone.conf", "etc/b.conf"])
    utimesSync(join(on.root, path), 1_700_000_000, 1_700_000_000);
  return on;
}

export const wanted: Resource[] = [
  directory("/etc/made", { mode: 0o750 }),
  file("/etc/one.conf", 'one new\nit\'s $HOME `x` \\ "q"\n', { restarts: [restart("one.service")] }),
  file("/etc/deep/er/two.conf", "two new\n", { mode: 0o640 }),
  file("/etc/link.conf", "no link any more\n"),
  file("/etc/gone.conf", "", { absent: true }),
  unit("two.service"),
  unit("three.service", { enabled: false, running: false }),
];
