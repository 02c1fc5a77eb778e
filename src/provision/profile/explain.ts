/** Answers where a value of a host came from. */
import { closest } from "../../spec/closest.ts";
import type { Provenance } from "../resource.ts";
import type { CompiledProfile } from "./compile-profile.ts";

export interface Explained extends Provenance {
  /** Ids of the resources that carry it. */
  readonly resources: readonly string[];
  /** Why those cannot be judged on this host, where they cannot. */
  readonly unavailable?: string;
}

export interface Explanation {
  readonly found: readonly Explained[];
  /** The key that was probably meant, where nothing was found. */
  readonly suggestion?: string;
}

/**
 * @param key a whole key (`executor.slots.cpu`), the beginning of some
 *   (`executor`), the id of a resource (`file:/etc/chrony/chrony.conf`), or "" for all of them
 */
export function explain(compiled: CompiledProfile, key: string): Explanation {
  const wanted = compiled.resources.find(({ id }) => id === key)?.provenance.map((one) => one.key);
  const matches = compiled.provenance.filter(
    (one) => key === "" || one.key === key || one.key.startsWith(`${key}.`) || wanted?.includes(one.key),
  );
  const found = matches.map((one): Explained => {
    const carriers = compiled.resources.filter(({ provenance }) =>
      provenance.some((each) => each.key === one.key),
    );
    const unavailable = carriers.find((each) => each.unavailable !== undefined)?.unavailable;
    return {
      ...one,
      resources: carriers.map(({ id }) => id),
      ...(unavailable !== undefined && { unavailable }),
    };
  });
  if (found.length > 0) return { found };
  const suggestion = closest(key, [
    ...compiled.provenance.map((one) => one.key),
    ...compiled.resources.map(({ id }) => id),
  ]);
  return { found, ...(suggestion !== undefined && { suggestion }) };
}
