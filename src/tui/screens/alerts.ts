import { panel } from "../text/panel.ts";
import type { Screen } from "./screen.ts";

export const alertsScreen: Screen<never> = {
  name: "alerts",
  title: "Alerts",
  sorts: [],
  rows: () => ({ rows: [], keys: [] }),
  listHeight: (_, area) => area.height - 3,
  draw: (_, area) => panel({ title: "alerts", width: area.width, height: area.height }, []),
  open: () => null,
  subject: () => ({}),
  command: () => [],
};
