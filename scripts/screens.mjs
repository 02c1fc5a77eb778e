/** Draws the screens into docs/screens/: `node scripts/screens.mjs [NAME…]`, after a build. */
import { bundleAndRun } from "./bundle-and-run.mjs";

await bundleAndRun("test/support/draw-screens.ts", process.argv.slice(2));
