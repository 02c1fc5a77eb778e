/**
 * Whether other hosts reach the target of a cut, as they see it themselves. What is sent to a host that is
 * cut off does not arrive, whichever way the cut is, so a connection to it is never answered.
 *
 *   answered before ──▶ silent while the fault lasts ──▶ answered again: seen
 *        └─ nobody was: the drill does not begin    └─ never again: it may be another trouble, and proves nothing
 */
import { messageOf } from "../../base/errors.ts";
import type { DrillProof, DrillVariant } from "../../spec/drill-definition.ts";
import type { PeerAnswer } from "../host/drill-host.ts";
import type { EvidenceBook } from "./evidence.ts";
import type { WatchedHost } from "./watched-host.ts";

/** So many hosts are asked about each: one alone may have a trouble of its own. */
const askers = 3;
const sshPort = 22;

export interface Reached {
  /** Hosts that were asked. */
  readonly asked: readonly string[];
  /** Those that got an answer. */
  readonly by: readonly string[];
  /** Why one could not be asked; undefined when all could. */
  readonly trouble: string | undefined;
}

export class ReachWatch {
  readonly #variant: DrillVariant;
  readonly #hosts: readonly WatchedHost[];
  /** By target: who was answered before the fault. */
  readonly #before = new Map<string, readonly WatchedHost[]>();
  /** Who was not answered in the fault, and when. */
  #silent: { readonly asker: WatchedHost; readonly at: string }[] = [];

  constructor(variant: DrillVariant, hosts: readonly WatchedHost[]) {
    this.#variant = variant;
    this.#hosts = hosts;
  }

  /** Undefined where the drill does not ask for it. */
  static of(variant: DrillVariant, hosts: readonly WatchedHost[]): ReachWatch | undefined {
    return variant.proof.some(isMeant) ? new ReachWatch(variant, hosts) : undefined;
  }

  /** Before the fault. Never throws. */
  async before(target: WatchedHost): Promise<Reached> {
    const asked = this.#askersOf(target);
    let trouble: string | undefined;
    const answers = await Promise.all(
      asked.map((asker) => ask(asker, target, (why) => (trouble ??= `${asker.name}: ${why}`))),
    );
    const by = asked.filter((_, nth) => answers[nth] === "answers");
    this.#before.set(target.name, by);
    return { asked: asked.map(({ name }) => name), by: by.map(({ name }) => name), trouble };
  }

  /** While the fault is known to last, until somebody got no answer. Never throws. @param now the instant, RFC 3339 */
  async during(target: WatchedHost, now: () => string): Promise<void> {
    if (this.#silent.length > 0) return;
    const answered = this.#before.get(target.name) ?? [];
    await Promise.all(
      answered.map(async (asker) => {
        if ((await ask(asker, target)) === "silent") this.#silent.push({ asker, at: now() });
      }),
    );
  }

  /** After the restore, until one of those who got no answer gets one: then it is noted. Never throws. */
  async after(target: WatchedHost, book: EvidenceBook): Promise<void> {
    if (book.has(meant)) return;
    await Promise.all(
      this.#silent.map(async ({ asker, at }) => {
        if ((await ask(asker, target)) !== "answers") return;
        const detail = `${asker.name} got no answer from ${target.name}, and did before and after`;
        book.note(meant.see, meant.from, detail, at);
      }),
    );
  }

  /** The host that runs drills last: it is let through. Those of parts that are let through, not at all. */
  #askersOf(target: WatchedHost): WatchedHost[] {
    const { fault } = this.#variant;
    const kept = fault.kind === "cut" ? fault.keep : [];
    const others = this.#hosts.filter(
      ({ name, host }) => name !== target.name && !kept.some((part) => host.parts.includes(part)),
    );
    const isWatchman = ({ host }: WatchedHost) => Number(host.parts.includes("watchman"));
    return others.sort((a, b) => isWatchman(a) - isWatchman(b)).slice(0, askers);
  }
}

const meant = { see: "unreachable", from: "another-host" } as const;

function isMeant({ see, from }: DrillProof): boolean {
  return see === meant.see && from === meant.from;
}

async function ask(
  asker: WatchedHost,
  { host }: WatchedHost,
  onTrouble: (why: string) => void = () => {},
): Promise<PeerAnswer> {
  const [address] = host.addresses;
  if (address === undefined) return "unknown";
  try {
    return await asker.door.reach({ address, port: host.sshPort ?? sshPort });
  } catch (error) {
    onTrouble(messageOf(error));
    return "unknown";
  }
}
