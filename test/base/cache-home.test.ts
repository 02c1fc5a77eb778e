import { homedir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test, vi } from "vitest";
import { cacheHome } from "../../src/base/cache-home.ts";

afterEach(() => {
  vi.unstubAllEnvs();
});

test.each([
  ["/var/cache/mine", "/var/cache/mine"],
  ["", join(homedir(), ".cache")],
  ["relative/cache", join(homedir(), ".cache")],
  [undefined, join(homedir(), ".cache")],
])("XDG_CACHE_HOME=%s", (asked, expected) => {
  vi.stubEnv("XDG_CACHE_HOME", asked);
  expect(cacheHome()).toBe(expected);
});
