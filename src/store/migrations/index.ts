/** The migrations, in order. Append only: a migration that was released never changes. */
import records from "./000001-records.sql";
import functions from "./000002-functions.sql";
import roles from "./000003-roles.sql";
import drain from "./000004-drain.sql";
import watchman from "./000005-watchman.sql";
import drills from "./000006-drills.sql";
import probeSweep from "./000007-probe-sweep.sql";

export interface Migration {
  readonly number: number;
  readonly name: string;
  /** `expand` adds and can run beside the previous version; `contract` takes away. */
  readonly kind: "expand" | "contract";
  readonly sql: string;
}

export const migrations: readonly Migration[] = [
  migration(1, "records", records),
  migration(2, "functions", functions),
  migration(3, "roles", roles),
  migration(4, "drain", drain),
  migration(5, "watchman", watchman),
  migration(6, "drills", drills),
  migration(7, "probe-sweep", probeSweep),
];

function migration(number: number, name: string, sql: string): Migration {
  const kind = /^-- kind: (expand|contract)$/m.exec(sql)?.[1];
  if (kind !== "expand" && kind !== "contract") throw new Error(`migration ${number} does not say its kind`);
  return { number, name, kind, sql };
}
