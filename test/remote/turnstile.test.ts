import { expect, test } from "vitest";
import { Turnstile } from "../../src/remote/turnstile.ts";

/** Lets `count` in, each leaving as soon as it is in; @returns the most that were inside at once */
async function most(turnstile: Turnstile, count: number): Promise<number> {
  let inside = 0;
  let seen = 0;
  const visit = async () => {
    const leave = await turnstile.enter();
    seen = Math.max(seen, ++inside);
    await new Promise((resolve) => setImmediate(resolve));
    inside--;
    leave();
    leave();
  };
  await Promise.all(Array.from({ length: count }, visit));
  return seen;
}

test("lets in as many at once as it may, everybody in the end, and fewer once it is narrowed", async () => {
  const turnstile = new Turnstile(8);
  expect(await most(turnstile, 30)).toBe(8);
  turnstile.narrow(3);
  expect(await most(turnstile, 30)).toBe(3);
  turnstile.narrow(0);
  expect(await most(turnstile, 5)).toBe(1);
  expect(turnstile.inside).toBe(0);
});
