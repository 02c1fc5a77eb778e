/** Hosts one wave after another: the next begins only when the one before is well. */
import { type HostOutcome, outcome } from "./outcome.ts";

export interface WaveOptions {
  /** Go on with later waves although a host failed. */
  readonly keepGoing?: boolean;
  /** Hosts of one wave at once. */
  readonly concurrency?: number;
  readonly signal?: AbortSignal;
  readonly onOutcome?: (outcome: HostOutcome) => void;
}

export type Waves = readonly (readonly string[])[];

/** @returns one outcome a host, in the order of the waves; those not begun are skipped, with the reason */
export async function applyWaves(
  waves: Waves,
  applyOne: (host: string) => Promise<HostOutcome>,
  { keepGoing = false, concurrency = 16, signal, onOutcome }: WaveOptions = {},
): Promise<readonly HostOutcome[]> {
  const outcomes: HostOutcome[] = [];
  let stop: string | undefined;
  for (const wave of waves) {
    const ended: HostOutcome[] = new Array(wave.length);
    let next = 0;
    const worker = async (): Promise<void> => {
      while (next < wave.length) {
        const at = next++;
        const host = wave[at]!;
        const reason = signal?.aborted ? "stopped" : stop;
        const one =
          reason === undefined ? await applyOne(host) : outcome(host, "skipped", "not-started", { reason });
        ended[at] = one;
        onOutcome?.(one);
      }
    };
    await Promise.all(Array.from({ length: Math.min(concurrency, wave.length) }, worker));
    outcomes.push(...ended);
    const failed = ended.filter(
      ({ status }) => status !== "ok" && status !== "changed" && status !== "skipped",
    );
    if (!keepGoing && stop === undefined && failed.length > 0)
      stop = `${failed.map(({ host }) => host).join(", ")} failed before it`;
  }
  return outcomes;
}

export interface PlacedHost {
  readonly name: string;
  readonly failureDomain: string;
  /** Of hosts that do the same alone-standing work no two are in one wave; undefined where any number may be. */
  readonly apart?: string;
  /** Its work is being done here now: it comes after all others. */
  readonly last?: boolean;
}

/** One failure domain a wave, in the order of the hosts; those that must stay apart never together; the last ones last. */
export function wavesByDomain(hosts: readonly PlacedHost[]): Waves {
  const waves: { domain: string; last: boolean; hosts: PlacedHost[] }[] = [];
  for (const host of [...hosts.filter(({ last }) => !last), ...hosts.filter(({ last }) => last)]) {
    const wave = waves.find(
      (one) =>
        one.domain === host.failureDomain &&
        one.last === (host.last ?? false) &&
        !one.hosts.some(({ apart }) => apart !== undefined && apart === host.apart),
    );
    if (wave) wave.hosts.push(host);
    else waves.push({ domain: host.failureDomain, last: host.last ?? false, hosts: [host] });
  }
  return waves.map((wave) => wave.hosts.map(({ name }) => name));
}
