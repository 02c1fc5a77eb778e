/** A server and what it is asked for, however an address writes it: a URL, with or without jdbc:, or key=value words. */

export interface Place {
  /** Empty: this machine. */
  readonly host: string;
  /** Empty: not said. */
  readonly port: string;
  readonly database: string;
}

const url = /(?:jdbc:)?\b([a-z][a-z0-9+.-]*):(?:[a-z]+:)*\/\/([^\s/?#;"']*)([^\s"']*)/gi;
/** libpq's and ADO's way: `host=db.example dbname=ledger`, `Server=db.example;Database=ledger`. */
const words =
  /(?:^|[\s;"'-])(host|hostaddr|server|data source|addr|address|port|dbname|database|initial catalog|service|sid)\s*=\s*('[^']*'|"[^"]*"|[^\s;"']*)/gi;
/** `tcp(db.example:3306)`, the way of one driver of MySQL. */
const inBrackets = /@(?:tcp|unix|udp)?\(([^)]*)\)(?:\/([^\s?]*))?/gi;
/** `db.example:5432`, perhaps with a user, a path, or more of its kind. */
const hostAndPort = /^(?:[^\s@/]+@)?(?=[^:]*[a-z.])[\w.-]+:\d{1,5}(?:$|[,/;])/i;
const ipv4 = /^\d{1,3}(?:\.\d{1,3}){3}$/;
const other = /^jdbc:|^\/\/[\w.-]+|^[^\s@]+@[\w.-]+(?::\d+)?(?:\/|$)/i;

const usualPorts: Readonly<Record<string, string>> = {
  postgres: "5432",
  postgresql: "5432",
  mysql: "3306",
  mariadb: "3306",
  redis: "6379",
  amqp: "5672",
  mongodb: "27017",
  sqlserver: "1433",
  http: "80",
  https: "443",
};
const databases = /^(?:postgres(?:ql)?|mysql|mariadb|sqlserver)\b/i;

/** A URL or a list of words that names a database of its own. */
export function isDatabase(value: string): boolean {
  return /^\s*(?:jdbc:)?(?:postgres(?:ql)?|mysql|mariadb|sqlserver)[a-z0-9+.-]*:\/\/|(?:^|\s)dbname\s*=/i.test(
    value,
  );
}

/** An address that a shell fills in (`postgres://$HOST/…`) is not there yet. */
export function hasAddress(value: string): boolean {
  const text = value.trim();
  const isWritten = [...text.matchAll(url)].some(([, , authority]) => !authority!.includes("$"));
  if (isWritten || hostAndPort.test(text) || ipv4.test(text) || other.test(text)) return true;
  const named = [...text.matchAll(words)].some(
    ([, key, said]) => said && !said.includes("$") && !/^(?:port|addr|address|sid)$/i.test(key!),
  );
  return named || matches(inBrackets, text);
}

function matches(pattern: RegExp, text: string): boolean {
  return [...text.matchAll(pattern)].length > 0;
}

/** Every place that a value names; none where it is no address that can be read. */
export function placesIn(value: string): Place[] {
  const found: Place[] = [];
  for (const [, scheme, authority, rest] of value.matchAll(url))
    found.push(...ofUrl(scheme!.toLowerCase(), authority!, rest!));
  if (found.length > 0) return found;
  for (const [, address, database] of value.matchAll(inBrackets))
    found.push({ ...hostOf(address!, "3306"), database: decoded(database ?? "") });
  if (found.length > 0) return found;
  const said = new Map([...value.matchAll(words)].map(([, key, one]) => [key!.toLowerCase(), bare(one!)]));
  const first = (...keys: string[]) => keys.map((key) => said.get(key)).find((one) => one) ?? "";
  if (said.size > 0)
    return first("host", "hostaddr", "server", "data source", "addr", "address", "service")
      .split(/,(?!\d+$)/)
      .map((host) => ({
        host,
        port: first("port") || (said.has("dbname") ? "5432" : ""),
        database: first("dbname", "database", "initial catalog", "sid"),
      }));
  if (hostAndPort.test(value.trim()))
    return value
      .trim()
      .split(/[,;]/)
      .map((one) => {
        const [authority, ...path] = one.split("/");
        return { ...hostOf(authority!, ""), database: path.join("/") };
      });
  return [];
}

function ofUrl(scheme: string, authority: string, rest: string): Place[] {
  const kind = scheme.split("+")[0]!;
  const [path, query = ""] = rest.split(/[?#;](.*)/s, 2);
  const asked = new URLSearchParams(query.replaceAll(";", "&").replace(/#.*$/, ""));
  const ofDatabase = databases.test(kind);
  const user = /^([^:@]*)(?::[^@]*)?@/.exec(authority)?.[1] ?? "";
  const inPath = decoded(path!.replace(/^\/+|\/+$/g, ""));
  const named =
    (asked.get("dbname") ?? asked.get("databaseName") ?? inPath) || (ofDatabase ? decoded(user) : "");
  const hosts = (ofDatabase && (asked.get("host") ?? asked.get("hostaddr"))) || authority.replace(/^.*@/, "");
  const usual = (ofDatabase && asked.get("port")) || usualPorts[kind] || "";
  return hosts.split(",").map((host) => ({ ...hostOf(decoded(host), usual), database: named }));
}

function hostOf(text: string, usualPort: string): { host: string; port: string } {
  const [, host, port] = /^(?:.*@)?(\[[^\]]*\]|[^:]*|[^[].*:.*:.*?)(?::(\d+))?$/.exec(text) ?? [];
  return { host: host ?? text, port: port ?? usualPort };
}

/** The same text for the same place, whatever scheme and login it was written with. */
export function placeName({ host, port, database }: Place): string {
  const plain = host
    .toLowerCase()
    .replace(/^\[|\]$/g, "")
    .replace(/\.$/, "");
  const isHere =
    plain === "" ||
    plain === "localhost" ||
    plain === "::1" ||
    plain === "0.0.0.0" ||
    /^127\.|^\/|^@/.test(plain);
  return JSON.stringify([isHere ? "" : plain, port, database]);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function bare(text: string): string {
  return text.replace(/^['"]|['"]$/g, "");
}
