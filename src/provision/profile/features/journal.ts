/** Bounds of the journal: a size that is written down, and a rate limit that does not drop lines of a busy host. */
import { formatBytes } from "../../../base/bytes.ts";
import { formatDuration } from "../../../base/duration.ts";
import { directory, linesFile } from "../make-resource.ts";
import type { Feature } from "./feature.ts";

export const journal: Feature<"journal"> = (section) => {
  const { maxUse, keepFree, retention, rateInterval, rateBurst } = section.value;
  const folder = "/etc/systemd/journald.conf.d";
  return [
    directory(folder),
    directory("/var/log/journal", { mode: 0o2755, group: "systemd-journal" }),
    linesFile(`${folder}/escapement.conf`, {
      lines: [
        "[Journal]",
        "Storage=persistent",
        `SystemMaxUse=${maxUse}`,
        `SystemKeepFree=${keepFree}`,
        `MaxRetentionSec=${Math.round(retention / 1_000)}s`,
        `RateLimitIntervalSec=${Math.round(rateInterval / 1_000)}s`,
        `RateLimitBurst=${rateBurst}`,
      ],
      after: [`directory:${folder}`],
      restarts: [{ unit: "systemd-journald.service", action: "restart" }],
      provenance: [
        section.written("maxUse", formatBytes(maxUse)),
        section.written("keepFree", formatBytes(keepFree)),
        section.written("retention", formatDuration(retention)),
        section.written("rateInterval", formatDuration(rateInterval)),
        section.written("rateBurst", rateBurst),
      ],
    }),
  ];
};
