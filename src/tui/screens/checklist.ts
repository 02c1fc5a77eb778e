import { panel } from "../text/panel.ts";
import type { Screen } from "./screen.ts";

export const checklistScreen: Screen<never> = {
  name: "checklist",
  title: "Checklist",
  sorts: [],
  rows: () => ({ rows: [], keys: [] }),
  listHeight: (_, area) => area.height - 3,
  draw: (_, area) => panel({ title: "checklist", width: area.width, height: area.height }, []),
  open: () => null,
  subject: () => ({}),
  command: () => [],
};
export const itemScreen: Screen<never> = {
  name: "item",
  title: "Item",
  sorts: [],
  rows: () => ({ rows: [], keys: [] }),
  listHeight: (_, area) => area.height - 3,
  draw: (_, area) => panel({ title: "item", width: area.width, height: area.height }, []),
  open: () => null,
  subject: () => ({}),
  command: () => [],
};
