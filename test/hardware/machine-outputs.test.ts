/** Values written down by hand, so that a parser that calls everything unknown fails. */
import { machineOutputs } from "../cases/hardware/machine-outputs.ts";
import { type Expectation, GiB, known, some, testOutputs } from "./saved-outputs.ts";

const expected: Readonly<Record<string, Expectation>> = {
  "dmidecode: the last module is slow": [
    some({
      product: known("Example 2U"),
      ecc: known("multi-bit"),
      emptySlots: known(0),
      dimms: known(
        [4800, 4800, 4800, 4000].map((speed) =>
          some({ sizeBytes: 32 * GiB, ratedMtps: known(4800), configuredMtps: known(speed) }),
        ),
      ),
    }),
    ["power-supply-failed critical", "memory-below-rated-speed warning"],
  ],
  "dmidecode: no error correction, one socket has less": [
    some({ ecc: known("none"), emptySlots: known(1) }),
    ["power-supply-failed critical", "memory-without-ecc warning", "memory-unbalanced warning"],
  ],
  "ipmitool: the last of three supplies lost its feed": [
    some({
      redundancyStated: known("Fully Redundant"),
      supplies: known([
        some({ isPresent: known(true), hasInput: known(true) }),
        some({ isPresent: known(true), hasInput: known(true) }),
        some({ isPresent: known(true), hasInput: known(false) }),
      ]),
    }),
    ["power-feed-lost critical", "power-not-redundant unknown", "power-supply-failed unknown"],
  ],
  "ipmitool: one supply of two slots": [
    some({ supplies: known([some({ isPresent: known(true) }), some({ isPresent: known(false) })]) }),
    ["single-power-supply warning", "power-not-redundant unknown"],
  ],
  "redfish: two supplies on two feeds, one cannot carry the peak": [
    some({ peakWatts: known(910) }),
    ["power-not-redundant warning"],
  ],
  "redfish: two supplies, redundant": [some({ peakWatts: known(410) }), []],
  "lscpu: nested JSON, two sockets in one node": [
    {
      architecture: known("x86_64"),
      virtualization: known("none"),
      cpu: {
        model: known("Example CPU"),
        sockets: known(2),
        cores: known(32),
        threads: known(64),
        numaNodes: known([some({ id: 0, cpus: Array.from({ length: 64 }, (_, i) => i) })]),
      },
    },
    ["numa-hidden warning"],
  ],
  "lscpu: flat JSON": [
    some({
      cpu: some({ model: known("Example N1"), sockets: known(1), cores: known(8), threads: known(8) }),
    }),
    [],
  ],
  "numactl: a node without memory": [
    known([
      { id: 0, cpus: [0, 1, 2, 3], memoryBytes: known(64_215 * 1024 ** 2) },
      { id: 1, cpus: [], memoryBytes: known(0) },
    ]),
    [],
  ],
};

testOutputs(machineOutputs, expected);
