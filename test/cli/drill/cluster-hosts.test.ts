/** What drills know of the hosts of an inventory. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { drilledHosts } from "../../../src/cli/drill/cluster-hosts.ts";
import { writeClusterFiles } from "./cluster-files.ts";

let folder: string;
let inventory: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "drill-hosts-"));
  await writeClusterFiles(folder, "postgres://nobody@127.0.0.1/none");
  inventory = join(folder, "inventory.yaml");
});
afterAll(() => rmSync(folder, { recursive: true }));

describe("the virtual address", () => {
  // The cluster file of the watchman's host does not name it, and drills are run there.
  it.each([
    ["10.0.0.100/24", "10.0.0.100"],
    ["2001:db8::100/64", "2001:db8::100"],
    ["none", undefined],
    [undefined, undefined],
  ])("of the setting %s is %s", async (setting, address) => {
    const text = readFileSync(inventory, "utf8");
    const settings = setting === undefined ? "" : `  settings: { virtualIp: "${setting}" }\n`;
    const file = join(folder, "with-address.yaml");
    writeFileSync(file, text.replace("  hosts:\n", `${settings}  hosts:\n`));
    expect((await drilledHosts({ inventory: file })).virtualAddress).toBe(address);
  });
});

it("what may be done to a host is what its profile allows", async () => {
  const { hosts } = await drilledHosts({ inventory });
  const faults = Object.fromEntries(hosts.map((one) => [one.name, one.faults]));
  expect(faults["sched-1"]).toEqual(expect.arrayContaining(["kill", "cut"]));
  expect(faults["sched-1"]).not.toContain("power");
  expect(faults["store-1"]).not.toContain("fill-disk");
  expect(faults["watch-1"]).toEqual([]);
});
