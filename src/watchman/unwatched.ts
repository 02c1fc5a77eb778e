/** What this watchman cannot see, in words: what is not looked at must not pass for well. */
import type { Picture } from "./picture.ts";
import { timeSourcesOf } from "./rules/time-source.ts";
import type { WatchSettings } from "./settings.ts";

export function unwatched(picture: Picture, settings: WatchSettings): string[] {
  const silent = timeSourcesOf(picture, settings)
    .filter(({ source }) => source.why !== null && !source.wasKnown)
    .map(({ host, source }) => `the time service of ${host} (${source.why})`);
  return [
    ...(picture.health?.unknown ?? []),
    ...(picture.storeDisks.length === 0
      ? ["the disks of the store's host (nobody runs escapement store report-disk there)"]
      : []),
    ...silent,
  ];
}
