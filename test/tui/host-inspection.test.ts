/** What facts and verify answer, as the hosts screen shows it. */
import { expect, test } from "vitest";
import { inspectionOf } from "../../src/tui/data/host-inspection.ts";
import { openUi } from "../support/ui-state.ts";

const facts = JSON.stringify({
  schemaVersion: 1,
  hosts: [
    {
      host: "batch-01",
      status: "ok",
      findings: [
        {
          severity: "critical",
          id: "disk-failing",
          subject: "sda",
          reason: "it reallocates sectors",
          action: "replace it",
        },
        { severity: "warning", id: "memory-errors", reason: "3 in a week", action: "test it" },
      ],
      unjudged: [{ id: "power", reason: "no BMC" }],
    },
    { host: "store-1", status: "unreachable", message: "no route to host" },
    { host: 7 },
  ],
});
const verify = JSON.stringify({
  hosts: [
    {
      host: "batch-01",
      answer: "no",
      deviations: [
        { id: "file:/etc/motd", answer: "unknown", because: "not allowed" },
        { id: "sysctl:vm.swappiness", answer: "no", because: "60, not 1" },
      ],
    },
    { host: "store-1", answer: "unknown", deviations: [] },
    { host: "watch-1", answer: "yes", deviations: [] },
  ],
});

const opened = (rows = 40, inventory?: string) =>
  openUi({ columns: 140, rows, ...(inventory ? { inventory } : {}) }).press("3");
const looked = { hosts: inspectionOf(facts, verify), running: false, problem: null };

test("findings and drift stand beside the process of the host; hosts without one have rows, too", () => {
  const text = opened(40, "inventory.yaml").give("inspection", looked).text();
  expect(text).toMatch(/executor-1 .*✗ 1 +✗ 1/);
  expect(text).toMatch(/facts +✗ disk-failing sda: it reallocates sectors; replace it {2}read 0s ago/);
  expect(text).toMatch(/! memory-errors: 3 in a week; test it/);
  expect(text).toMatch(/drift +✗ sysctl:vm.swappiness: 60, not 1/);
  expect(text).toMatch(/\? file:\/etc\/motd: not allowed/);
  expect(text).toMatch(/store-1 +host +· no process .*\? unread +\?/);
  expect(text).toMatch(/watch-1 +host .*✓/);
});

test("where there is little room, the worst, and how many there are", () => {
  const text = opened(24, "inventory.yaml").give("inspection", looked).text();
  expect(text).toMatch(/facts +2: ✗ disk-failing/);
  expect(text).toMatch(/drift +2: ✗ sysctl/);
});

test("without an inventory it says how to get it, and i says why not", () => {
  const ui = opened();
  expect(ui.text()).toContain("start with -i INVENTORY");
  expect(ui.press("i").effects).toEqual([]);
  expect(ui.text()).toContain("facts and drift are read from the hosts");
});

test("i reads again, also where nothing may be changed", () => {
  expect(opened(24, "inventory.yaml").press("i").effects).toEqual([{ kind: "inspect" }]);
});

test("an answer that is none is nothing found on no host", () => {
  expect(inspectionOf("error", '{"hosts":"?"}')).toEqual([]);
});
