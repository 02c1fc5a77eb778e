/** Tests that need something which not every machine has. */

/**
 * For `test.skipIf(unavailable("pgbouncer", findPgbouncer() !== undefined))`.
 * Skipped tests are named in the report, so that nobody takes them for passed.
 * @throws instead of skipping when ESCAPEMENT_REQUIRE_ALL=1
 */
export function unavailable(tier: string, present: boolean): boolean {
  if (present) return false;
  if (process.env.ESCAPEMENT_REQUIRE_ALL === "1") {
    throw new Error(`${tier} is not available here, and ESCAPEMENT_REQUIRE_ALL=1 forbids to skip its tests`);
  }
  console.warn(`unknown: ${tier} is not available here; npm run setup -- --for test says why`);
  return true;
}
