/** Values written down by hand, so that a parser that calls everything unknown fails. */
import { expect, test } from "vitest";
import { parseChronycSourcestats } from "../../src/hardware/parse/chronyc-sources.ts";
import { timeOutputs } from "../cases/hardware/time-outputs.ts";
import { type Expectation, known, some, testOutputs } from "./saved-outputs.ts";

const expected: Readonly<Record<string, Expectation>> = {
  "timedatectl show: as it should be": [
    {
      timeZone: known("Etc/UTC"),
      rtcLocal: known(false),
      synchronized: known(true),
      ntpService: known(true),
    },
    [],
  ],
  "chronyc tracking: in step, 31 microseconds fast": [
    some({
      running: known(true),
      isSynchronized: known(true),
      stratum: known(2),
      leap: known("Normal"),
      offsetSeconds: known(0.000031),
      rootDelaySeconds: known(0.000009104),
      rootDispersionSeconds: known(0.000001565),
      frequencyPpm: known(0.028),
    }),
    [],
  ],
  "chronyc tracking: never in step, offset 0": [
    some({ isSynchronized: known(false), stratum: known(0), offsetSeconds: { unknown: expect.any(String) } }),
    ["clock-not-synchronised critical", "clock-offset unknown"],
  ],
  "chronyc tracking: three quarters of a second slow": [
    some({ isSynchronized: known(true), offsetSeconds: known(-0.75) }),
    ["clock-offset critical"],
  ],
  "chronyc tracking: text": [
    some({
      stratum: known(2),
      leap: known("Normal"),
      offsetSeconds: known(-0.15),
      frequencyPpm: known(0.028),
    }),
    ["clock-offset warning"],
  ],
  "chronyc tracking: no daemon": [
    some({ running: known(false) }),
    ["clock-not-synchronised critical", "clock-offset unknown"],
  ],
  "chronyc sources: four good ones": [
    known([
      {
        name: "192.168.1.1",
        kind: "server",
        state: "selected",
        stratum: 1,
        reach: 8,
        offsetSeconds: known(0.000012),
      },
      some({ name: "192.168.1.2", reach: 8 }),
      some({ name: "192.168.1.3", reach: 7 }),
      some({ name: "192.168.1.4", state: "not combined" }),
    ]),
    [],
  ],
  "chronyc sources: the selected one fades, the others are gone or lie": [
    known([
      some({ state: "falseticker" }),
      some({ state: "unreachable", reach: 0, offsetSeconds: { unknown: expect.any(String) } }),
      some({ state: "selected", reach: 1 }),
    ]),
    ["ntp-few-sources warning", "ntp-reach warning"],
  ],
  "chronyc sourcestats": [
    known([
      { name: "192.168.1.1", samples: 17, skewPpm: known(0.024), deviationSeconds: known(0.0000054) },
      some({ samples: 0, skewPpm: { unknown: expect.any(String) } }),
    ]),
    [],
  ],
  "chronyc activity": [known({ online: 3, offline: 1, unresolved: 2 }), []],
};

testOutputs(timeOutputs, expected);

test.each([
  ["chronyc's refusal", "506 Cannot talk to daemon\n", "does not answer"],
  ["another program's lines", "Architecture: x86_64\n", "no statistics"],
])("%s is no list of statistics, whole or not", (_, text, reason) => {
  for (const isWhole of [true, false])
    expect(parseChronycSourcestats({ text, isWhole })).toMatchObject({
      unknown: expect.stringContaining(reason),
    });
});
