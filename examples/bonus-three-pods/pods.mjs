/** Three pods, and the platform under them: a pod that dies is started again. */
import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";

const program = fileURLToPath(new URL("pod.mjs", import.meta.url));

export class Pods {
  #env;
  #pods = [];

  static async start(count, env) {
    const pods = new Pods();
    pods.#env = { ...process.env, ...env };
    for (let i = 0; i < count; i++) pods.#pods.push(await pods.#startOne());
    return pods;
  }

  get pids() {
    return this.#pods.map((pod) => pod.pid);
  }

  /** Lets the cron of every pod strike at once. @returns what each said at the end; "killed" for one that died */
  async strike(month, atMs) {
    return await Promise.all(
      this.#pods.map(
        (pod) =>
          new Promise((resolve) => {
            const onMessage = (message) => {
              pod.off("exit", onExit);
              resolve(message.status);
            };
            const onExit = () => resolve("killed");
            pod.once("message", onMessage);
            pod.once("exit", onExit);
            pod.send({ month, atMs });
          }),
      ),
    );
  }

  signal(pid, signal) {
    this.#pods.find((pod) => pod.pid === pid)?.kill(signal);
  }

  /** Starts again what has died. */
  async heal() {
    for (const [i, pod] of this.#pods.entries()) {
      if (pod.exitCode !== null || pod.signalCode !== null) this.#pods[i] = await this.#startOne();
    }
  }

  stop() {
    for (const pod of this.#pods) pod.kill("SIGKILL");
  }

  async #startOne() {
    const pod = fork(program, { env: this.#env, stdio: ["ignore", "ignore", "inherit", "ipc"] });
    await new Promise((resolve, reject) => {
      pod.once("message", resolve);
      pod.once("exit", () => reject(new Error("a pod did not start")));
    });
    return pod;
  }
}
