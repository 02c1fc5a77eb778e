/**
 * The last watch: a small shell in a session of its own that knows every process
 * group that runs. The supervisor holds the only other end of its pipe; when
 * the supervisor is gone, however it went, the groups still listed are killed.
 */
import { type ChildProcess, spawn } from "node:child_process";

const script = `
set -f
listed=
while read -r what group; do
  case $what in
    +) listed="$listed $group" ;;
    -) kept=; for one in $listed; do [ "$one" = "$group" ] || kept="$kept $one"; done; listed=$kept ;;
  esac
done
for group in $listed; do kill -s KILL -- "-$group"; done
`;

export class LastWatch {
  readonly #groups = new Set<number>();
  #shell: ChildProcess | undefined;

  add(group: number): void {
    this.#groups.add(group);
    this.#input().write(`+ ${group}\n`);
  }

  remove(group: number): void {
    if (this.#groups.delete(group)) this.#input().write(`- ${group}\n`);
  }

  /** Starts the shell, and again should someone have killed it. */
  #input(): NonNullable<ChildProcess["stdin"]> {
    if (this.#shell?.stdin) return this.#shell.stdin;
    const shell = spawn("/bin/sh", ["-c", script, "escapement-last-watch"], {
      detached: true,
      cwd: "/",
      env: { PATH: "/usr/bin:/bin" },
      stdio: ["pipe", "ignore", "ignore"],
    });
    const forget = () => {
      if (this.#shell !== shell) return;
      this.#shell = undefined;
      if (this.#groups.size > 0) for (const group of this.#groups) this.#input().write(`+ ${group}\n`);
    };
    shell.on("error", () => {});
    shell.once("exit", forget);
    shell.stdin!.on("error", () => {});
    shell.unref();
    this.#shell = shell;
    return shell.stdin!;
  }
}
