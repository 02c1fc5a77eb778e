/**
 * Draws every screen of a sample store into docs/screens/, as the program shows it
 * on a real pseudo terminal. `node scripts/screens.mjs`.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { packageRoot } from "../../src/lab/package-root.ts";
import { startPostgres } from "../../src/lab/postgres.ts";
import { Database } from "../../src/store/database.ts";
import { migrate } from "../../src/store/migrate.ts";
import { screenSvg } from "./screen-svg.ts";
import { ownProgram, PtySession } from "./terminal.ts";
import { fillUiStore } from "./ui-store.ts";

const folder = join(packageRoot()!, "docs/screens");
const wide = { columns: 132, rows: 40 };
const narrow = { columns: 80, rows: 24 };

interface Picture {
  readonly name: string;
  readonly size: { readonly columns: number; readonly rows: number };
  readonly keys: readonly string[];
  readonly shows: RegExp;
}

const pictures: readonly Picture[] = [
  {
    name: "overview",
    size: wide,
    keys: [],
    shows: /settlement[\s\S]*went wrong|went wrong[\s\S]*settlement/,
  },
  { name: "overview-80x24", size: narrow, keys: [], shows: /settlement/ },
  { name: "jobs", size: wide, keys: ["2"], shows: /ledger-export/ },
  { name: "job", size: wide, keys: ["2", "/settlement\r", "\r"], shows: /Settles the day/ },
  { name: "execution", size: wide, keys: ["\r"], shows: /bank 7 answers 503[\s\S]*attempt 2/ },
  { name: "hosts", size: wide, keys: ["3"], shows: /executor-3/ },
  { name: "drills", size: wide, keys: ["4"], shows: /halts it/ },
  { name: "checklist", size: wide, keys: ["5"], shows: /was pass/ },
  { name: "alerts", size: wide, keys: ["6"], shows: /bank 7/ },
  { name: "capacity", size: wide, keys: ["7"], shows: /free of/ },
  {
    name: "confirm",
    size: wide,
    keys: ["2", "/settlement\r", "R", "asked for by finance\r", "settle"],
    shows: /settle▌/,
  },
  { name: "help", size: wide, keys: ["2", "?"], shows: /keys of jobs/ },
];

// Nobody answers there: what the hosts are made of is on no picture.
const place = mkdtempSync(join(tmpdir(), "escapement-screens-"));
process.chdir(place);
writeFileSync(
  "inventory.yaml",
  `apiVersion: escapement/v1
kind: Inventory
metadata: { name: sample }
spec:
  hosts:
    - { name: batch-01, address: 127.0.0.1, port: 9 }
`,
);
const server = await startPostgres();
try {
  const url = await server.createDatabase("escapement");
  const db = new Database(url);
  await migrate(db);
  await fillUiStore(db, { moreJobs: 40, shards: 640, drill: true });
  mkdirSync(folder, { recursive: true });
  const wanted = process.argv.slice(2);
  for (const { name, size, keys, shows } of pictures.filter(
    (one) => wanted.length === 0 || wanted.includes(one.name),
  )) {
    await db.query("UPDATE escapement.watchman SET last_pass_at = clock_timestamp() - interval '8 seconds'");
    const session = new PtySession({
      ...size,
      command: [process.execPath, ownProgram, "ui", "--operator", "-i", "inventory.yaml"],
      environment: { ESCAPEMENT_STORE_URL: url },
    });
    await session.shows(/of [\d,]+ due/);
    for (const key of keys) {
      session.press(key);
      await new Promise((resolve) => setTimeout(resolve, 300));
    }
    await session.shows(shows);
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    writeFileSync(join(folder, `${name}.svg`), screenSvg(session.terminal, `escapement ui: ${name}`));
    await session.dispose();
    console.error(`docs/screens/${name}.svg`);
  }
  await db.end();
} finally {
  await server.remove();
  rmSync(place, { recursive: true, force: true });
}
process.exit(0);
