/** The fault tests can fail: each of these breaks one line of the guard, and must be found. */
import { expect, test } from "vitest";
import { guardInstallSql } from "../../../src/store/guard-schema.ts";
import { driveAll } from "./drive-faults.ts";
import { type Fault, FaultLab } from "./fault-lab.ts";

interface Plant {
  readonly what: string;
  readonly routine: string;
  readonly line: string;
  readonly instead: string;
  readonly scenario: string;
  readonly fault: Fault;
  readonly finding: RegExp;
}

const paidTwice = /(ada|bob): [2-9]|paid [2-9] times/;

const plants: readonly Plant[] = [
  {
    what: "a claim that is always the first",
    routine: "claim",
    line: "ON CONFLICT DO NOTHING;",
    instead: "ON CONFLICT (key, key_date) DO UPDATE SET txid = txid_current();",
    scenario: "claim",
    fault: "kill",
    finding: paidTwice,
  },
  {
    what: "a fence that lets an older token pass",
    routine: "fence",
    line: "IF v_highest > p_token THEN",
    instead: "IF false THEN",
    scenario: "fence",
    fault: "freeze",
    finding: paidTwice,
  },
  {
    what: "a checkpoint that anybody may save",
    routine: "checkpoint_save",
    line: "WHERE key = p_key AND token = p_token",
    instead: "WHERE key = p_key",
    scenario: "checkpoint",
    fault: "freeze",
    finding: paidTwice,
  },
  {
    what: "a work item that a former holder may finish",
    routine: "work_done",
    line: "AND token = p_token AND state = 'processing'",
    instead: "",
    scenario: "work",
    fault: "freeze",
    finding: paidTwice,
  },
  {
    what: "a call in doubt that is made again although the receiver does not deduplicate",
    routine: "call_begin",
    line: "AND NOT (v_row.deduplicating AND p_deduplicating)",
    instead: "AND false",
    scenario: "call-plain",
    fault: "kill",
    finding: paidTwice,
  },
  {
    what: "a call that counts as done before it was answered",
    routine: "call_begin",
    line: "decision := 'in-doubt';",
    instead: "decision := 'done';",
    scenario: "call-plain",
    fault: "kill",
    finding: /expected|nobody is told/,
  },
  {
    what: "a run that starts again on its own after its holder died",
    routine: "once_acquire",
    line: "AND NOT p_rerun_after_crash THEN",
    instead: "AND false THEN",
    scenario: "once-alone",
    fault: "kill",
    finding: paidTwice,
  },
];

test.each(plants)(
  "$what is found",
  { timeout: 300_000 },
  async ({ routine, line, instead, scenario, fault, finding }) => {
    const whole = new RegExp(
      `CREATE OR REPLACE FUNCTION escapement_guard\\.${routine}\\([\\s\\S]*?\\n\\w*\\s*\\$\\$;`,
    );
    const text = whole.exec(guardInstallSql())?.[0] ?? "";
    expect(text).toContain(line);
    const lab = await FaultLab.open(text.replace(line, () => instead));
    try {
      await expect(driveAll(lab, scenario, fault, await lab.measure(scenario))).rejects.toThrow(finding);
    } finally {
      await lab.close();
    }
  },
);
