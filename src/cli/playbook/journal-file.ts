/** Where the journal of a playbook lies, and that only one run at a time writes it. */
import { accessSync, closeSync, constants, openSync, readFileSync, unlinkSync, writeSync } from "node:fs";
import { dirname, join } from "node:path";
import { EscapementError, messageOf } from "../../base/errors.ts";
import { makeFolder } from "../../base/make-folder.ts";
import { stateFolder } from "../state-folder.ts";

/** One journal for a playbook and the hosts it is run on. */
export function journalFile(inventoryFile: string, playbook: string, targets: readonly string[]): string {
  return join(stateFolder(inventoryFile), "playbooks", `${[playbook, ...targets].join(".")}.jsonl`);
}

/**
 * Holds the journal for this process; a lock of a process that is gone is taken over.
 * @returns what lets go of it
 * @throws E_REFUSED while another process runs the same playbook, E_UNAVAILABLE where nothing can be written
 */
export function lockJournal(file: string): () => void {
  const lock = `${file}.lock`;
  makeWritable(dirname(file));
  for (let attempt = 0; ; attempt++) {
    try {
      const handle = openSync(lock, "wx", 0o600);
      writeSync(handle, `${process.pid} ${startOf(process.pid) ?? ""}\n`);
      closeSync(handle);
      return () => {
        try {
          unlinkSync(lock);
        } catch {
          // Somebody has cleared it away.
        }
      };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
      const [pid = "", start = ""] = readHolder(lock).split(" ");
      if (attempt > 0 || (pid !== "" && startOf(Number(pid)) === start && start !== ""))
        throw new EscapementError("E_REFUSED", {
          what: `process ${pid} runs this playbook already`,
          hint: "wait for its end, or stop it with Ctrl-C: it can be taken up again",
        });
      unlinkSync(lock);
    }
  }
}

function makeWritable(folder: string): void {
  try {
    makeFolder(folder, 0o700);
    accessSync(folder, constants.W_OK);
  } catch (error) {
    throw new EscapementError(
      "E_UNAVAILABLE",
      {
        what: `the journals of playbooks cannot be kept in ${folder}: ${messageOf(error)}`,
        hint: "let the folder of the inventory be written, or name another in XDG_STATE_HOME",
      },
      { cause: error },
    );
  }
}

function readHolder(lock: string): string {
  try {
    return readFileSync(lock, "utf8").trim();
  } catch {
    return "";
  }
}

/** Start time of a living process in the kernel's ticks, so that a reused number is not taken for it. */
function startOf(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19];
  } catch {
    return undefined;
  }
}
