/** Findings that compare the hosts of one cluster. */
import { describe, expect, test } from "vitest";
import { known } from "../../src/base/fact.ts";
import { acrossHosts } from "../../src/hardware/findings/across-hosts.ts";
import type { HostFacts } from "../../src/hardware/host-facts.ts";
import { blankHost } from "../../src/hardware/kinds.ts";
import { parseChronyConf } from "../../src/hardware/parse/chrony-conf.ts";

const blank = blankHost();

describe("between hosts", () => {
  const host = (name: string, mode: string, zone: string): { host: string; facts: HostFacts } => {
    const configuration = parseChronyConf({ text: `server a\nleapsecmode ${mode}\n`, isWhole: true });
    return {
      host: name,
      facts: {
        ...blank,
        clock: { ...blank.clock, timeZone: known(zone), ntp: { ...blank.clock.ntp, configuration } },
      },
    };
  };
  const say = (...hosts: ReturnType<typeof host>[]) =>
    acrossHosts(hosts).map((one) => `${one.id} ${one.status}`);

  test("the same policies", () => {
    expect(say(host("a", "slew", "UTC"), host("b", "slew", "Etc/UTC"))).toEqual([
      "leap-second-policy-differs good",
      "time-zone-differs good",
    ]);
  });
  test("different ones", () => {
    expect(say(host("a", "slew", "UTC"), host("b", "step", "Asia/Tokyo"))).toEqual([
      "leap-second-policy-differs bad",
      "time-zone-differs bad",
    ]);
  });
  test("a host that does not tell is no match", () => {
    expect(say(host("a", "slew", "UTC"), { host: "b", facts: blank })).toEqual([
      "leap-second-policy-differs unknown",
      "time-zone-differs unknown",
    ]);
  });
});
