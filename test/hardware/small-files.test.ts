/** What is read from the short files and outputs of a host. */
import { describe, expect, test } from "vitest";
import { known } from "../../src/base/fact.ts";
import type { NtpConfiguration } from "../../src/hardware/clock-facts.ts";
import { parseChronyConf } from "../../src/hardware/parse/chrony-conf.ts";
import { parseMeminfo } from "../../src/hardware/parse/kernel.ts";
import { parseMdstat } from "../../src/hardware/parse/mdstat.ts";
import { parseOsRelease, parseSystemdVersion } from "../../src/hardware/parse/system.ts";

const whole = (text: string) => ({ text, isWhole: true });
const halfMirror = `Personalities : [raid1]
md0 : active raid1 sdb1[1](F) sda1[0]
      523712 blocks super 1.2 [2/1] [U_]

unused devices: <none>
`;

describe("small files", () => {
  test("values by hand", () => {
    const parsed = parseChronyConf(
      whole(
        "# comment\npool pool.example iburst\nserver ntp1\nminsources 2\nmaxslewrate 500\nleapsecmode slew\n",
      ),
    );
    const expected: NtpConfiguration = {
      makestep: undefined,
      leapSecondMode: "slew",
      minSources: 2,
      maxSlewRatePpm: 500,
      servers: ["pool.example", "ntp1"],
    };
    expect(parsed).toEqual(known(expected));
    expect(parseMeminfo(whole("MemTotal:       16314092 kB\nSwapTotal:             0 kB\n"))).toEqual({
      totalBytes: known(16_314_092 * 1024),
      swapBytes: known(0),
    });
    expect(parseOsRelease(whole('NAME="Debian"\nID=debian\nVERSION_ID="12"\n'))).toEqual({
      id: known("debian"),
      version: known("12"),
    });
    expect(parseSystemdVersion(whole("systemd 252 (252.22-1~deb12u1)\n+PAM\n"))).toEqual(known(252));
    expect(parseMdstat(whole(halfMirror))).toEqual(
      known([
        {
          name: "md0",
          level: known("raid1"),
          devices: ["sdb1", "sda1"],
          failed: ["sdb1"],
          wanted: known(2),
          working: known(1),
        },
      ]),
    );
  });
});
