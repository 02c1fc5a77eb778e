/** What a run tells people while it goes on, kept for the report. */
export class DrillLog {
  readonly lines: { readonly at: string; readonly line: string }[] = [];
  readonly #tell: (line: string) => void;
  readonly now: () => string;

  /** @param now RFC 3339, database time */
  constructor(tell: (line: string) => void, now: () => string) {
    this.#tell = tell;
    this.now = now;
  }

  say(line: string): void {
    this.lines.push({ at: this.now(), line });
    this.#tell(line);
  }
}
