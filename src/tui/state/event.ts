/** What can happen to the screens. */
import type { PartName, Parts } from "../data/picture.ts";

export type UiEvent =
  | { readonly type: "key"; readonly key: string }
  | { readonly type: "paste"; readonly text: string }
  | { readonly type: "size"; readonly columns: number; readonly rows: number }
  | { readonly type: "tick"; readonly nowMs: number }
  | {
      readonly [Name in PartName]: {
        readonly type: "data";
        readonly part: Name;
        readonly value: Parts[Name];
        readonly nowMs: number;
      };
    }[PartName]
  | {
      readonly type: "store-down";
      readonly reason: string;
      readonly nowMs: number;
      readonly retryAtMs: number;
    }
  | { readonly type: "store-up" }
  | { readonly type: "action-started"; readonly title: string }
  | {
      readonly type: "action-ended";
      readonly title: string;
      readonly ok: boolean;
      readonly text: string;
      readonly nowMs: number;
    }
  | {
      readonly type: "notice";
      readonly text: string;
      readonly tone: "good" | "bad" | "plain";
      readonly nowMs: number;
    };
