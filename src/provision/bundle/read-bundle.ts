/** A bundle that only looks: it changes nothing on the host, and asks all at once. */
import { randomBytes } from "node:crypto";
import { protocolVersion } from "./frame.ts";
import { compileHead, compileRead, type HostPaths, type Probe } from "./probe.ts";
import readScript from "./read.sh";
import { shellWord } from "./shell-quote.ts";

export interface Bundle {
  /** The script for the standard input of `sh -s`. */
  readonly script: string;
  readonly nonce: string;
}

export interface BundleOptions {
  readonly paths: HostPaths;
  /** Searched before the system's own programs; for tests. */
  readonly path?: string;
}

/** Marks of a bundle: unlikely to be in anything a host prints by itself. */
export function newNonce(): string {
  return `escapement-${randomBytes(12).toString("hex")}`;
}

/**
 * @param extra a script that runs beside the reading, whose output comes back
 * as the fact `extra` in base64
 */
export function readBundle(
  probes: readonly Probe[],
  options: BundleOptions & { readonly extra?: string },
): Bundle {
  const nonce = newNonce();
  const body =
    options.extra === undefined
      ? "  esc_read </dev/null | esc_emit"
      : [
          "  esc_tmp=$(mktemp) || exit 73",
          `  sh -c ${quoted(options.extra)} </dev/null >"$esc_tmp" 2>/dev/null &`,
          "  esc_facts=$(esc_read </dev/null)",
          "  wait",
          `  { printf '%s\\n' "$esc_facts"; printf 'extra\\t%s\\n' "$(base64 -w 0 <"$esc_tmp")"; } | esc_emit`,
          '  rm -f "$esc_tmp"',
        ].join("\n");
  const script = [
    compileHead({ nonce, version: protocolVersion, ...options }),
    readScript,
    compileRead(probes, options.paths),
    // A script cut short on its way defines functions and calls none.
    `esc_main() {\n${body}\n}`,
    "esc_main",
    "",
  ].join("\n");
  return { script, nonce };
}

function quoted(script: string): string {
  return script
    .split("\n")
    .map((line) => shellWord(line.replaceAll("\t", " ")))
    .join("'\n'");
}
