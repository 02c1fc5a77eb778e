/** The long exactly-once test: `npm run torture -- --kills 10000`. The program is test/torture/main.ts. */
import { bundleAndRun } from "./bundle-and-run.mjs";

await bundleAndRun("test/torture/main.ts", process.argv.slice(2));
