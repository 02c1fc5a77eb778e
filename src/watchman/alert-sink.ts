/** Where judgements go. */
import type { Finding } from "./finding.ts";
import type { Picture } from "./picture.ts";

export interface AlertSink {
  /**
   * Takes all findings of one pass; what was found before and is not among them has gone.
   * @param picture null: the store was away, so nothing but its absence was judged, and nothing may be called resolved
   */
  present(findings: readonly Finding[], picture: Picture | null): Promise<void>;
  /** Waits for what is on its way; called at the end. */
  close(): Promise<void>;
}
