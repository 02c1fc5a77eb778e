/** How long a change may wait to be confirmed. */
import { expect, test } from "vitest";
import { confirmSeconds } from "../../src/cli/confirm-timeout.ts";

test.each([
  ["5s", 5],
  ["1500ms", undefined],
  ["4s", undefined],
  ["20m", 1_200],
  ["1h", 3_600],
  ["61m", undefined],
])("%s", (text, seconds) => {
  if (seconds === undefined) expect(() => confirmSeconds(text)).toThrow("must be from 5s to 1h");
  else expect(confirmSeconds(text)).toBe(seconds);
});
