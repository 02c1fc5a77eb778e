/** Judges a unit file before it is put in place. */
import type { Validator } from "../resource.ts";

/**
 * `systemd-analyze verify` ends with 0 for a value it cannot read, and says so
 * in a line that names the file. Whatever it says about this unit refuses it;
 * what it says about other units of the host is not our business.
 */
export const unitValidator: Validator = {
  name: "systemd-analyze verify",
  argv: [
    "sh",
    "-c",
    'said=$(systemd-analyze verify "$1" 2>&1); code=$?; printf "%s\\n" "$said" | grep -F "$(basename "$1")" >&2 && exit 1; [ $code = 0 ]',
    "sh",
    "{file}",
  ],
};
