/** No password on a screen, and nothing else taken away. */
import { expect, test } from "vitest";
import { urlWithoutPassword } from "../../src/cli/url-without-password.ts";

test.each([
  ["postgres://ada:secret@store:5432/escapement", "postgres://ada@store:5432/escapement"],
  [
    "postgresql://ada:se@cr:et@store/escapement?sslmode=require",
    "postgresql://ada@store/escapement?sslmode=require",
  ],
  ["postgres://postgres@/escapement?host=/tmp", "postgres://postgres@/escapement?host=/tmp"],
  ["postgres://ada:secret@h1:1,h2:2/db", "postgres://ada@h1:1,h2:2/db"],
  ["postgres://store/db?user=ada&password=secret", "postgres://store/db?user=ada"],
  ["postgres://store/db?password=secret&user=ada", "postgres://store/db?user=ada"],
  ["postgres://store/db?password=secret", "postgres://store/db"],
  ["postgres://store:5432/db", "postgres://store:5432/db"],
])("%s", (url, shown) => {
  expect(urlWithoutPassword(url)).toBe(shown);
});
