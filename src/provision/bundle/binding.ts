/** What of a host's facts binds an apply: the same as esc_binding of the runner. */

/** The fact lines without what changes by itself, each once where it stands, in the order of their bytes. */
export function bindingLines(facts: readonly string[]): string[] {
  return facts
    .filter((line) => !/^(?:content|txn|end|host|extra|result)\t/.test(line))
    .map((line) => line.replace(/\t~\t.*$/, "").replace(/\tActiveEnterTimestampMonotonic=[0-9]*/, ""))
    .map((line) => (line.startsWith("unit\t") ? steady(line) : line))
    .sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
}

/** A service that is on its way, or fails and is started again, has not moved. */
function steady(line: string): string {
  return line
    .replace(/=(?:activating|reloading)/, "=active")
    .replace(/=(?:deactivating|failed)/, "=inactive");
}
