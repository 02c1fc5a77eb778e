/**
 * Where a job's environment leads to, and whether a rehearsal would still reach it.
 * What looks like an address counts as one: a variable too many is set by hand, a real payment is not undone.
 */
import { EscapementError } from "../../base/errors.ts";
import type { JobDefinition } from "../../spec/job-definition.ts";
import { hasAddress, isDatabase, placeName, placesIn } from "./place.ts";

const usualPorts: ReadonlyMap<string, string> = new Map([
  ["PG", "5432"],
  ["MYSQL_", "3306"],
]);

type Variables = Readonly<Record<string, string>>;

/** Ends of names whose values say together where something is: PGHOST and PGDATABASE, ORDERS_HOST and ORDERS_PORT. */
const partOfPlace =
  /^(PG|(?:.*_)?)(HOST|HOSTS|HOSTADDR|HOSTNAME|SERVER|SERVERS|ADDR|ADDRESS|ENDPOINT|UNIX_PORT|SOCKET|DATABASE|DBNAME|DB|SID)$/i;
const port = /^(?:PG|(?:.*_)?)(?:TCP_)?PORT$/i;
/** These are addresses whatever they hold. */
const wholePlace =
  /^(?:PGSERVICE|PGSERVICEFILE|PGPASSFILE|TWO_TASK|TNS_ADMIN|(?:.*_)?(?:URL|URI|DSN|BROKERS?|BOOTSTRAP_SERVERS|CONNECTION|CONNECTION_STRING))$/i;

/**
 * @param replaced what `--set` gives
 * @param lookUrl what the rehearsal compares: it must be where the job writes
 * @returns variables that name a database which is not looked at
 * @throws E_REFUSED naming every variable that is still to be set
 */
export function refuseRealPlaces(
  job: JobDefinition,
  replaced: Variables,
  lookUrl: string,
): readonly string[] {
  const inCommand = job.command.find((word) => hasAddress(word));
  if (inCommand !== undefined)
    throw new EscapementError("E_REFUSED", {
      what: "the job's command has an address in it, which nothing can replace",
      hint: "let the command take it from a variable of its environment",
    });
  const places = realPlaces(job.environment);
  const kept = Object.entries(job.environment)
    .filter(([name, value]) => isAddress(name, value) && stillReal(name, replaced, job.environment, places))
    .map(([name]) => name);
  const given = Object.keys(replaced).filter((name) => leadsTo(replaced[name]!, places));
  const real = [...new Set([...kept, ...given])];
  if (real.length > 0)
    throw new EscapementError("E_REFUSED", {
      what: `${real.join(", ")} of the job would reach the real thing`,
      hint: real.map((name) => `--set ${name}=…`).join(" "),
    });
  return refuseOtherScratch(job.environment, replaced, lookUrl, places);
}

function isAddress(name: string, value: string): boolean {
  return value !== "" && (hasAddress(value) || wholePlace.test(name) || partOfPlace.test(name));
}

/** Every place of the job as it is in production, by name. */
function realPlaces(environment: Variables): ReadonlySet<string> {
  const whole = Object.values(environment).flatMap((value) => placesIn(value).map(placeName));
  return new Set([...whole, ...groups(environment).values()]);
}

function leadsTo(value: string, places: ReadonlySet<string>): boolean {
  return placesIn(value).some((place) => places.has(placeName(place)));
}

/** Not set at all, set to what it was, or to a real place of any of the job's variables. */
function stillReal(
  name: string,
  replaced: Variables,
  environment: Variables,
  places: ReadonlySet<string>,
): boolean {
  const value = replaced[name];
  if (value === undefined) return true;
  const part = partOfPlace.exec(name);
  if (part && placesIn(value).length === 0) {
    // The host may be the same where the database is another: all parts together are the place.
    const prefix = part[1]!.toUpperCase();
    const now = groups({ ...environment, ...replaced }).get(prefix);
    return now === undefined || places.has(now);
  }
  return value === environment[name];
}

/** What the parts of a place come to, by the beginning that their names share. */
function groups(environment: Variables): ReadonlyMap<string, string> {
  const parts = new Map<string, { host: string; port: string; database: string }>();
  const of = (prefix: string) => {
    const found = parts.get(prefix) ?? { host: "", port: "", database: "" };
    parts.set(prefix, found);
    return found;
  };
  for (const [name, value] of Object.entries(environment)) {
    const part = partOfPlace.exec(name);
    if (!part) continue;
    const group = of(part[1]!.toUpperCase());
    if (/^(?:DATABASE|DBNAME|DB|SID)$/i.test(part[2]!)) group.database ||= value;
    else group.host ||= value;
  }
  for (const [name, value] of Object.entries(environment))
    if (port.test(name)) {
      const group = parts.get(name.replace(/(?:TCP_)?PORT$/i, "").toUpperCase());
      if (group) group.port ||= value;
    }
  return new Map(
    [...parts].map(([prefix, part]) => [
      prefix,
      placeName({ ...part, port: part.port || (usualPorts.get(prefix) ?? "") }),
    ]),
  );
}

/** The content that is compared must be the one that the job changes. */
function refuseOtherScratch(
  environment: Variables,
  replaced: Variables,
  lookUrl: string,
  places: ReadonlySet<string>,
): readonly string[] {
  const looked = placesIn(lookUrl).map(placeName);
  if (looked.some((place) => places.has(place)))
    throw new EscapementError("E_REFUSED", {
      what: "--look is a real place of the job",
      hint: "name the scratch database there",
    });
  const written = new Map<string, readonly string[]>();
  for (const [name, value] of Object.entries(replaced)) {
    if (isDatabase(value)) written.set(name, placesIn(value).map(placeName));
    else if (/^PG(?:HOST|HOSTADDR|DATABASE)$/.test(name))
      written.set(name, [groups({ ...environment, ...replaced }).get("PG")!]);
  }
  const unseen = [...written].filter(([, at]) => !at.some((place) => looked.includes(place)));
  if (unseen.length < written.size || written.size === 0) return unseen.map(([name]) => name);
  throw new EscapementError("E_REFUSED", {
    what: `--look is another database than ${[...written.keys()].join(", ")}: what the job changes would not be seen`,
    hint: "write the same host, port and database in both",
  });
}
