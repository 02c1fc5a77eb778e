/** The slice of all jobs: batch has the machine when nobody else wants it, and no more than its share of memory ever. */
import { formatBytes } from "../../../base/bytes.ts";
import { isKnown } from "../../../base/fact.ts";
import { memoryForJobs } from "../../../capacity/machine/concurrency.ts";
import { computed, notComputed } from "../host-context.ts";
import { linesFile } from "../make-resource.ts";
import { unitValidator } from "../unit-validator.ts";
import type { Feature } from "./feature.ts";
import { jobsSlice as sliceName } from "./paths.ts";

const mebibyte = 2 ** 20;

export const jobsSlice: Feature<"jobsSlice"> = (section, context) => {
  const { cpuWeight, ioWeight, memoryShare, tasksPerCore, swap } = section.value;
  const { cores, memory } = context;
  const missing = [memory, cores].find((one) => !isKnown(one));
  const forJobs = isKnown(memory) ? Math.max(0, memoryForJobs(memory.known.value)) : 0;
  const memoryMax = Math.floor((forJobs * memoryShare) / mebibyte) * mebibyte;
  const tasksMax = isKnown(cores) ? cores.known.value * tasksPerCore : 0;
  return [
    linesFile(`/etc/systemd/system/${sliceName}`, {
      lines: [
        "[Unit]",
        "Description=All jobs of Escapement",
        "",
        "[Slice]",
        `CPUWeight=${cpuWeight}`,
        `IOWeight=${ioWeight}`,
        `MemoryMax=${memoryMax}`,
        `MemorySwapMax=${swap}`,
        `TasksMax=${tasksMax}`,
      ],
      risk: "medium",
      unavailable: missing && !isKnown(missing) ? missing.unknown : undefined,
      validator: unitValidator,
      provenance: [
        section.written("cpuWeight", cpuWeight),
        section.written("ioWeight", ioWeight),
        section.written("swap", formatBytes(swap)),
        ...(isKnown(memory)
          ? [
              computed(
                "jobsSlice.memoryMax",
                formatBytes(memoryMax),
                `${memoryShare} of ${formatBytes(forJobs)}, which is ${formatBytes(memory.known.value)} (${memory.known.from}) without the larger of 2 GiB and 5 % for the system`,
              ),
            ]
          : [notComputed("jobsSlice.memoryMax", memory.unknown)]),
        ...(isKnown(cores)
          ? [
              computed(
                "jobsSlice.tasksMax",
                tasksMax,
                `${cores.known.value} physical cores (${cores.known.from}) × ${tasksPerCore}`,
              ),
            ]
          : [notComputed("jobsSlice.tasksMax", cores.unknown)]),
      ],
    }),
  ];
};
