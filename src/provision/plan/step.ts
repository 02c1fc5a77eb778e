/** The few things a host transaction can do. Each has its undo, written before the first of them is done. */
import type { Restart, Validator } from "../resource.ts";

export interface Ownership {
  readonly owner: string;
  readonly group: string;
  /** Permission bits. */
  readonly mode: number;
}

export interface UserShape {
  readonly group: string;
  readonly groups: readonly string[];
  readonly home: string;
  readonly shell: string;
}

export type Step =
  | { readonly do: "install"; readonly name: string; readonly version?: string }
  | { readonly do: "uninstall"; readonly name: string }
  | { readonly do: "add-group"; readonly name: string; readonly system: boolean }
  | ({ readonly do: "add-user"; readonly name: string; readonly system: boolean } & UserShape)
  | { readonly do: "change-user"; readonly name: string; readonly now: UserShape; readonly before: UserShape }
  | ({ readonly do: "directory"; readonly path: string; readonly before: Ownership | "absent" } & Ownership)
  | ({
      readonly do: "place";
      readonly path: string;
      readonly content: string;
      readonly validator?: Validator;
    } & Ownership)
  | { readonly do: "link"; readonly path: string; readonly target: string }
  | { readonly do: "remove"; readonly path: string }
  /** Judges the host after the renames and before any restart. */
  | { readonly do: "check"; readonly name: string; readonly argv: readonly string[] }
  /** Makes a change of the running system. `undo` runs after the files are back. */
  | {
      readonly do: "run";
      readonly name: string;
      readonly argv: readonly string[];
      readonly undo: readonly string[] | undefined;
    }
  | { readonly do: "load-table"; readonly table: string; readonly file: string; readonly existed: boolean }
  | {
      readonly do: "unit-file";
      readonly unit: string;
      readonly verb: "enable" | "disable" | "mask" | "unmask";
      /** What puts it back; undefined where the unit did not exist. */
      readonly undo: "enable" | "disable" | "mask" | "unmask" | undefined;
    }
  | { readonly do: "unit-active"; readonly unit: string; readonly running: boolean };

/** A restart that is due, with why. */
export interface DueRestart extends Restart {
  readonly reason: string;
  /** It was due before this plan: a file on the host says so. */
  readonly pending: boolean;
}
