/** Reads what the tools of RAID controllers print. */
import { type Fact, unknown } from "../../base/fact.ts";
import type { MachineFacts, RaidFacts } from "./machine-facts.ts";
import type { Reading } from "./verdict.ts";

export interface RaidReadings {
  /** JSON of `storcli64 /call show all J` or of perccli. */
  readonly storcli: Reading;
  /** Text of `ssacli ctrl all show config detail`. */
  readonly ssacli: Reading;
  /** PCI devices of class RAID, one a line. */
  readonly raidControllers: Reading;
}

export function raidFacts({ storcli, ssacli, raidControllers }: RaidReadings): MachineFacts["raid"] {
  const fromStorcli = storcli.text === undefined ? undefined : parseStorcli(storcli.text);
  if (fromStorcli) return fromStorcli;
  const fromSsacli = ssacli.text === undefined ? undefined : parseSsacli(ssacli.text);
  if (fromSsacli) return fromSsacli;
  if (raidControllers.text === undefined)
    return unknown(`${storcli.reason}; ${ssacli.reason}; ${raidControllers.reason}`);
  if (raidControllers.text.trim() === "") return { known: [] };
  return unknown(
    `a RAID controller is there, but its tool tells nothing: ${storcli.reason || "no controller"}; ${ssacli.reason}`,
  );
}

const untold = unknown("the tool does not tell");

function controller(
  backup: Fact<string>,
  isGood: Fact<boolean>,
  state: Fact<string>,
  careless: Fact<boolean>,
): RaidFacts {
  return {
    cacheBytes: untold,
    backup,
    backupIsGood: isGood,
    backupState: state,
    cachesWithoutBackup: careless,
  };
}

interface StorcliController {
  readonly "Command Status"?: { readonly Status?: string };
  readonly "Response Data"?: Readonly<Record<string, unknown>>;
}

/** Undefined: the tool found no controller of its make. */
function parseStorcli(text: string): MachineFacts["raid"] | undefined {
  let controllers: readonly StorcliController[];
  try {
    controllers = (JSON.parse(text) as { Controllers?: StorcliController[] }).Controllers ?? [];
  } catch {
    return unknown("the controller's tool printed no JSON");
  }
  const found = controllers.filter((one) => one["Command Status"]?.Status === "Success");
  if (found.length === 0) return undefined;
  return {
    known: found.map((one) => {
      const data = one["Response Data"] ?? {};
      const careless = rowsOf(data["VD LIST"]).some(({ Cache }) => /AWB/.test(String(Cache)));
      const states = [...rowsOf(data.Cachevault_Info), ...rowsOf(data.BBU_Info)].map(({ State }) =>
        String(State),
      );
      return controller(
        { known: states.length === 0 ? "none" : "battery or capacitor" },
        { known: states.every((state) => /^(Optimal|OK)$/i.test(state)) },
        { known: states.join(", ") },
        { known: careless },
      );
    }),
  };
}

function rowsOf(value: unknown): readonly Readonly<Record<string, unknown>>[] {
  return Array.isArray(value) ? (value as Readonly<Record<string, unknown>>[]) : [];
}

/** Undefined: the tool found no controller of its make. */
function parseSsacli(text: string): MachineFacts["raid"] | undefined {
  if (!/Smart Array|Smart RAID|Controller Status/i.test(text)) return undefined;
  const statuses = [...text.matchAll(/^\s*Battery\/Capacitor Status:\s*(.+)$/gim)].map(([, status]) =>
    status!.trim(),
  );
  return {
    known: [
      controller(
        { known: statuses.length === 0 ? "none" : "battery or capacitor" },
        { known: statuses.every((status) => status === "OK") },
        { known: statuses.join(", ") },
        { known: /^\s*No-Battery Write Cache:\s*Enabled/im.test(text) },
      ),
    ],
  };
}
