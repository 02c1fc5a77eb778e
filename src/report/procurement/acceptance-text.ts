/** How a delivered machine is tested, in words. */
import { formatDuration } from "../../base/duration.ts";
import { formatFigure } from "../../capacity/format.ts";
import type { SheetRequirement } from "../../capacity/procurement/page.ts";

export function acceptanceText({ accept, limit }: SheetRequirement): string {
  const least = limit ? formatFigure(limit) : "";
  switch (accept.check) {
    case "power-supplies":
      return `the management controller shows at least ${accept.atLeast} supplies present, none without input, failed or failing`;
    case "cores":
      return `the kernel counts at least ${least} physical cores`;
    case "memory":
      return `the firmware lists at least ${least} of modules`;
    case "memory-ecc":
      return "the firmware names an error correction for the memory";
    case "memory-speed":
      return "every module runs at its rated speed, and all are of one size";
    case "numa-nodes":
      return "the kernel shows at least one NUMA node a socket";
    case "disk-capacity":
      return `the file system of the folder has at least ${least}`;
    case "write-cache":
      return "the kernel shows no volatile write cache on the drive";
    case "flush-rate":
      return `pg_test_fsync does at least ${least} with fdatasync, and not more than a turning disk can`;
    case "write-iops":
      return `fio does at least ${least} of random 8 KiB writes`;
    case "raid-cache":
      return "the controller's tool shows a healthy capacitor or battery, and no volume that caches without it";
    case "network-speed":
      return `a link that is up has at least ${least} Gbit/s`;
    case "clock-source":
      return `the kernel's clock source is ${accept.oneOf.join(" or ")}`;
    case "clock-offset":
      return `chronyc reports a synchronised clock within ${formatDuration(accept.atMost)}`;
    case "time-zone":
      return `the system's time zone is ${accept.equals}`;
  }
}
