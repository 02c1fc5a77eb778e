/**
 * What a host can never have by its kind: kernel settings in a container, firmware in a virtual
 * machine. Such a resource stays unknown and is never taken for right, but no mending on that
 * host helps, so that plan and apply, which ask what is left to do here, do not wait for it.
 */

/** The kind of machine that it takes. */
export type NeededMachine = "vm" | "metal";

/** A resource that waits for such a resource says so first. */
const marker = /^(?:waits for .+?: )?needs-(vm|metal): /;

/** @param reason why a resource is unavailable. @returns undefined where the host itself could be mended */
export function beyondHost(reason: string): NeededMachine | undefined {
  return marker.exec(reason)?.[1] as NeededMachine | undefined;
}
