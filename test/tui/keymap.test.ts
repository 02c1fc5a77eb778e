/** The one table of keys: nothing in it contradicts itself, and everything in it can be read. */
import { describe, expect, test } from "vitest";
import { actions } from "../../src/tui/actions/actions.ts";
import { bindingsOf, intentOf, keymap } from "../../src/tui/state/keymap.ts";
import { type ScreenName, topScreens } from "../../src/tui/state/state.ts";

const screens: readonly ScreenName[] = [...topScreens, "job", "execution", "drill", "item"];

test.each(screens)("no key means two things on %s", (screen) => {
  const keys = bindingsOf(screen).flatMap((one) => one.keys);
  expect(keys.filter((key, i) => keys.indexOf(key) !== i)).toEqual([]);
});

test("what changes something has an upper-case key, what does not has none but for sorting", () => {
  for (const { intent, keys } of keymap) {
    const upper = keys.some((key) => /^[A-Z]$/.test(key));
    if (intent.do === "act") expect(keys).toEqual([expect.stringMatching(/^[A-Z]$/)]);
    else if (upper) expect(intent.do === "sort" || keys.includes("G")).toBe(true);
  }
});

test("every screen has a number, and the numbers are those of the header", () => {
  for (const [i] of topScreens.entries())
    expect(intentOf("overview", String(i + 1))).toEqual({ do: "screen", index: i });
});

const moves: readonly [key: string, intent: unknown][] = [
  ["j", { do: "move", how: { by: 1 } }],
  ["down", { do: "move", how: { by: 1 } }],
  ["k", { do: "move", how: { by: -1 } }],
  ["up", { do: "move", how: { by: -1 } }],
  ["h", { do: "back" }],
  ["left", { do: "back" }],
  ["esc", { do: "back" }],
  ["l", { do: "open" }],
  ["right", { do: "open" }],
  ["enter", { do: "open" }],
  ["g", { do: "move", how: { to: "first" } }],
  ["G", { do: "move", how: { to: "last" } }],
  ["pagedown", { do: "move", how: { pages: 1 } }],
  ["pageup", { do: "move", how: { pages: -1 } }],
  ["/", { do: "filter" }],
  [":", { do: "command" }],
  ["?", { do: "help" }],
  ["q", { do: "quit" }],
  ["y", { do: "copy" }],
];

describe.each(screens)("on %s", (screen) => {
  test.each(moves)("%s is the same as everywhere", (key, intent) => {
    expect(intentOf(screen, key)).toEqual(intent);
  });
});

test("every action can be reached by a key on each of its screens, and has a name of its own", () => {
  for (const { name, key, screens: places } of actions)
    for (const screen of places)
      expect(intentOf(screen, key), `${name} on ${screen}`).toEqual({ do: "act", action: name });
  expect(new Set(actions.map(({ name }) => name)).size).toBe(actions.length);
});
