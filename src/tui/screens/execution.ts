import { panel } from "../text/panel.ts";
import type { Screen } from "./screen.ts";

export const executionScreen: Screen<never> = {
  name: "execution",
  title: "Execution",
  sorts: [],
  rows: () => ({ rows: [], keys: [] }),
  listHeight: (_, area) => area.height - 3,
  draw: (_, area) => panel({ title: "execution", width: area.width, height: area.height }, []),
  open: () => null,
  subject: () => ({}),
  command: () => [],
};
