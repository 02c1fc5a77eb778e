/** The user of this process, also where the machine has no entry for it, as in many containers. */
import * as os from "node:os";
import { afterEach, expect, test, vi } from "vitest";
import { userName } from "../../src/base/user-name.ts";

vi.mock("node:os", async (original) => {
  const real = await original<typeof import("node:os")>();
  return { ...real, userInfo: vi.fn(real.userInfo) };
});
afterEach(() => {
  vi.mocked(os.userInfo).mockReset();
});

test("is the one of the login", async () => {
  const real = await vi.importActual<typeof import("node:os")>("node:os");
  vi.mocked(os.userInfo).mockImplementation(real.userInfo);
  expect(userName()).toBe(real.userInfo().username);
});

test("is its number where nothing names it", () => {
  vi.mocked(os.userInfo).mockImplementation(() => {
    throw Object.assign(new Error("uv_os_get_passwd returned ENOENT"), { code: "ERR_SYSTEM_ERROR" });
  });
  expect(userName()).toBe(String(process.geteuid!()));
});
