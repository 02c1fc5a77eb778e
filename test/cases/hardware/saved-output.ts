/** One output of a command, as someone may have saved it. */
import type { OutputKind } from "../../../src/hardware/kinds.ts";

export interface SavedOutput {
  readonly name: string;
  readonly kind: OutputKind;
  readonly text: string;
}
