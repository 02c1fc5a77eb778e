/** Bundles that end transactions: confirm, revert now, roll back, or put right what was interrupted. */
import applyScript from "./apply.sh";
import { protocolVersion } from "./frame.ts";
import { compileHead, compileRead, type Probe } from "./probe.ts";
import readScript from "./read.sh";
import { type Bundle, type BundleOptions, newNonce } from "./read-bundle.ts";
import settleScript from "./settle.sh";
import { shellWord } from "./shell-quote.ts";

interface SettleOptions extends BundleOptions {
  /** For tests: where the script kills itself. */
  readonly stopAt?: number;
}

/** Keeps an applied transaction: its timer is stopped, unless it has fired already. */
export function confirmBundle(id: string, options: SettleOptions): Bundle {
  return settleBundle(id, "  esc_confirm", options);
}

/** Does now what the timer would do later. */
export function revertBundle(id: string, options: SettleOptions): Bundle {
  return settleBundle(id, "  esc_revert", options);
}

/** @param id the transaction that is expected to be the last; undefined takes whichever is */
export function rollbackBundle(id: string | undefined, force: boolean, options: SettleOptions): Bundle {
  return settleBundle(id ?? "", `  esc_rollback ${shellWord(id ?? "")} ${force ? "force" : "''"}`, options);
}

/** Says what a rollback would be about, and does nothing. */
export function lastChangeBundle(options: SettleOptions): Bundle {
  return settleBundle("", "  esc_last", options);
}

/** Ends interrupted transactions, then looks. */
export function settleAndReadBundle(probes: readonly Probe[], options: SettleOptions): Bundle {
  const read = compileRead(probes, options.paths);
  return settleBundle(
    "",
    '  esc_begin\n  exec 9>&-\n  esc_say "$(esc_read)"\n  esc_result read ""',
    options,
    read,
  );
}

function settleBundle(id: string, body: string, options: SettleOptions, extra = ""): Bundle {
  const nonce = newNonce();
  const script = [
    compileHead({ nonce, version: protocolVersion, ...options }),
    `ID=${shellWord(id)}`,
    "T=",
    `ESC_STOP_AT=${options.stopAt ?? ""}`,
    readScript,
    applyScript,
    settleScript,
    extra,
    `esc_main() {\n${body}\n}`,
    "esc_main </dev/null",
    "",
  ].join("\n");
  return { script, nonce };
}
