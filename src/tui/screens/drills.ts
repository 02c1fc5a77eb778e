import { panel } from "../text/panel.ts";
import type { Screen } from "./screen.ts";

export const drillsScreen: Screen<never> = {
  name: "drills",
  title: "Drills",
  sorts: [],
  rows: () => ({ rows: [], keys: [] }),
  listHeight: (_, area) => area.height - 3,
  draw: (_, area) => panel({ title: "drills", width: area.width, height: area.height }, []),
  open: () => null,
  subject: () => ({}),
  command: () => [],
};
export const drillScreen: Screen<never> = {
  name: "drill",
  title: "Drill",
  sorts: [],
  rows: () => ({ rows: [], keys: [] }),
  listHeight: (_, area) => area.height - 3,
  draw: (_, area) => panel({ title: "drill", width: area.width, height: area.height }, []),
  open: () => null,
  subject: () => ({}),
  command: () => [],
};
