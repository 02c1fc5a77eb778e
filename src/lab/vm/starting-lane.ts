/**
 * How many virtual machines come up side by side. Emulated, one that starts keeps
 * a processor busy: six at once on two processors are six that run into their time
 * limits, and one after the other they are all up sooner.
 */
import { availableParallelism } from "node:os";
import type { LabState } from "../hosts/lab-state.ts";

/** Every second processor of this machine is left to what runs already. */
export function machinesAtOnce(
  { virtual }: Pick<LabState, "virtual">,
  processors = availableParallelism(),
): number {
  return virtual?.accelerator === "tcg" ? Math.max(1, Math.floor(processors / 2)) : Number.POSITIVE_INFINITY;
}

/** Runs what it is given in the order it was given, so many at a time. What waits behind a failure fails like it. */
export class StartingLane {
  readonly #width: number;
  readonly #waiting: (() => void)[] = [];
  #running = 0;
  #failed: { readonly error: unknown } | undefined;

  constructor(width: number) {
    this.#width = width;
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#running >= this.#width) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#running += 1;
    try {
      // The lab is taken down by now: nothing may start in it any more.
      if (this.#failed) throw this.#failed.error;
      return await work();
    } catch (error) {
      this.#failed ??= { error };
      throw error;
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#running -= 1;
    }
  }
}
