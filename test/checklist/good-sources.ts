/** The page and the sources that the jobs of the good cluster name, in a folder. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

const page = `# Payments

## After a stop

A bonus that was missed is paid as soon as somebody can (run-now), three days at most.
The report of an hour ago is worth nothing: skip.

## Elsewhere

Nothing of it.
`;

export interface GoodFiles {
  readonly root: string;
  write(path: string, text: string): void;
  remove(): void;
}

/** The folder with the page and the sources that the jobs name. */
export function goodFiles(): GoodFiles {
  const root = mkdtempSync(join(tmpdir(), "checklist-"));
  const write = (path: string, text: string) => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  };
  write("docs/payments.md", page);
  write(
    "jobs/bonus.sql",
    "INSERT INTO bonus (period, person_id, pence) SELECT :period, person_id, pence FROM person\n  ON CONFLICT (period, person_id) DO NOTHING;\n",
  );
  write(
    "jobs/report.py",
    'channel.basic_publish(body, message_id=os.environ["ESCAPEMENT_IDEMPOTENCY_KEY"])\n',
  );
  return { root, write, remove: () => rmSync(root, { recursive: true, force: true }) };
}
