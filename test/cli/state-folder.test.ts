/** Where what is remembered about hosts goes when it may not lie beside the inventory. */
import { homedir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test, vi } from "vitest";
import { stateFolder } from "../../src/cli/state-folder.ts";

afterEach(() => {
  vi.unstubAllEnvs();
});

const usual = join(homedir(), ".local", "state");

test.each([
  ["/var/lib/mine", "/var/lib/mine"],
  ["", usual],
  ["relative/state", usual],
  [undefined, usual],
])("XDG_STATE_HOME=%s", (asked, expected) => {
  vi.stubEnv("XDG_STATE_HOME", asked);
  const found = stateFolder("/nowhere/inventory.yaml");
  expect(found).toBe(join(expected, "escapement", "_nowhere_inventory.yaml"));
});
