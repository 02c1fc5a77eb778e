/** The order of sorted text, the same on every machine: by code units, without a locale. */
export function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
