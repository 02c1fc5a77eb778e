/** What an operator does on the hosts of a cluster, and what the diagnosis there says. */
import type { HostLab } from "../../../src/lab/hosts/host-lab.ts";
import { until } from "../../support/until.ts";

/** For a slow machine; nothing is asserted on how long it took. */
export const patient = { deadlineMs: 240_000, everyMs: 500 };

interface Diagnosed {
  readonly job: string;
  readonly class: string;
  readonly also: readonly string[];
  readonly cause: string;
}

export class ClusterConsole {
  readonly #lab: () => HostLab;

  constructor(lab: () => HostLab) {
    this.#lab = lab;
  }

  /** A shell line, as root. @param input its standard input */
  async on(host: string, line: string, input = ""): Promise<string> {
    const fed =
      input === "" ? line : `echo ${Buffer.from(input).toString("base64")} | base64 -d | { ${line}; }`;
    const { code, stdout, stderr } = await this.#lab().exec(host, ["env", "-C", "/", "sh", "-c", fed]);
    if (code !== 0) throw new Error(`${host}: ${line}: ${stdout}${stderr}`);
    return stdout.trim();
  }

  /** A command of the toolkit that may end with any code of a result, with the login of a host. */
  async ask(args: string, host = "watch-1") {
    const url = "ESCAPEMENT_STORE_URL=$(cat /etc/escapement/store-url)";
    return JSON.parse(await this.on(host, `${url} escapement ${args} --json || [ $? -lt 64 ]`));
  }

  /** A command of the toolkit as the owner of the records. */
  async own(args: string, input = ""): Promise<string> {
    const url = "ESCAPEMENT_STORE_URL='postgres://postgres@/escapement?host=/var/run/postgresql'";
    return this.on("store-1", `runuser -u postgres -- env ${url} escapement ${args}`, input);
  }

  /** One after the other, each with its own time: starting a program takes seconds on a slow machine. */
  async ownEach(lines: readonly string[]): Promise<void> {
    for (const line of lines) await this.own(line);
  }

  async apply(jobs: string): Promise<void> {
    await this.on("store-1", "cat > /run/planted.yaml", jobs);
    await this.own("jobs apply /run/planted.yaml --reason planted");
  }

  async sql(statements: string, database = "escapement"): Promise<string> {
    return this.on(
      "store-1",
      `runuser -u postgres -- psql -XAtq -v ON_ERROR_STOP=1 -d ${database}`,
      statements,
    );
  }

  /** A session that takes a lock and forgets it, until `release`. Returns when it has the lock. */
  async forget(name: string, statement: string, database = "escapement"): Promise<() => Promise<unknown>> {
    const psql = `psql -XAtq -d ${database} -c 'BEGIN; ${statement}; SELECT pg_sleep(900)'`;
    await this.on("store-1", `systemd-run -q --unit=${name} --uid=postgres -E PGAPPNAME=${name} ${psql}`);
    await until(
      async () =>
        (await this.sql(
          `SELECT count(*) FROM pg_stat_activity WHERE application_name = '${name}' AND wait_event = 'PgSleep'`,
        )) === "1",
      { ...patient, what: `${name} to hold its lock` },
    );
    return () =>
      this.sql(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = '${name}'`);
  }

  async storeNow(): Promise<Date> {
    return new Date(Number(await this.sql("SELECT extract(epoch FROM clock_timestamp()) * 1000")));
  }

  /** `job class cause`, and `job other-class cause` for what it is besides. */
  async diagnosed(since: Date, options = "", login: "watchman" | "owner" = "watchman"): Promise<string[]> {
    const args = `diagnose --from ${since.toISOString()} ${options}`;
    const { diagnoses } =
      login === "watchman"
        ? await this.ask(args)
        : JSON.parse(await this.own(`${args} --json || [ $? -lt 64 ]`));
    return (diagnoses as Diagnosed[]).flatMap((one) =>
      [one.class, ...one.also].map((kind) => `${one.job} ${kind} ${one.cause}`),
    );
  }

  /** Until there is a diagnosis for every pattern; a failure says which there were. */
  async named(
    since: Date,
    patterns: readonly RegExp[],
    options = "",
    login: "watchman" | "owner" = "watchman",
  ): Promise<void> {
    let last: string[] = [];
    const missing = () => patterns.filter((pattern) => !last.some((one) => pattern.test(one)));
    await until(
      async () => {
        last = await this.diagnosed(since, options, login);
        return missing().length === 0;
      },
      { ...patient, everyMs: 2_000, what: "diagnoses" },
    ).catch((error) => {
      const said = [...new Set(last)].sort().join("\n  ");
      throw new Error(`${error.message}: ${missing().join(", ")}; there are:\n  ${said}`, {
        cause: error.cause,
      });
    });
  }
}

/** Patterns of `job → class cause`. */
export function patternsOf(said: Readonly<Record<string, string>>): RegExp[] {
  return Object.entries(said).map(([job, what]) => new RegExp(`^ops/${job} ${what}$`));
}
