/** What tests ask of the hosts of a cluster, from inside them. */
import type { HostLab } from "../../../src/lab/hosts/host-lab.ts";

export class ClusterHosts {
  readonly #lab: () => HostLab;

  /** @param lab from `beforeAll` on */
  constructor(lab: () => HostLab) {
    this.#lab = lab;
  }

  /** @returns what the command printed, whatever it ended with */
  async run(host: string, ...argv: string[]): Promise<string> {
    const { stdout } = await this.#lab().exec(host, argv);
    return stdout.trim();
  }

  shell(host: string, line: string): Promise<string> {
    return this.run(host, "sh", "-c", line);
  }

  /** Asks the record store with the host's own login. */
  // biome-ignore lint/suspicious/noExplicitAny: a document of the command line, as JSON has it
  async ask(host: string, args: string): Promise<any> {
    const line = `ESCAPEMENT_STORE_URL=$(cat /etc/escapement/store-url) exec escapement ${args} --json`;
    return JSON.parse(await this.shell(host, line));
  }

  inLedger(statement: string): Promise<string> {
    const psql = ["psql", "-XAtq", "-d", "ledger", "-c", statement];
    return this.run("store-1", "runuser", "-u", "postgres", "--", ...psql);
  }

  async leader(through: string): Promise<string> {
    return (await this.ask(through, "status")).leader.node;
  }

  async holdsAddress(host: string): Promise<boolean> {
    const addresses = await this.run(host, "ip", "-o", "addr", "show");
    return addresses.includes(` ${this.#lab().state.virtualIp}/`);
  }
}
