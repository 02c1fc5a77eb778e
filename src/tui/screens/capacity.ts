import { panel } from "../text/panel.ts";
import type { Screen } from "./screen.ts";

export const capacityScreen: Screen<never> = {
  name: "capacity",
  title: "Capacity",
  sorts: [],
  rows: () => ({ rows: [], keys: [] }),
  listHeight: (_, area) => area.height - 3,
  draw: (_, area) => panel({ title: "capacity", width: area.width, height: area.height }, []),
  open: () => null,
  subject: () => ({}),
  command: () => [],
};
