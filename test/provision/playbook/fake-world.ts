/**
 * A world that is one file: each action turns a switch on or off there, each
 * check looks at one. It counts, so that what is done twice is seen.
 */
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { z } from "zod";
import {
  defineAction,
  defineCheck,
  no,
  type PlaybookHost,
  type Registry,
  type StepContext,
  unknown,
  yes,
} from "../../../src/provision/playbook/registry.ts";

export interface FakeState {
  /** `host/name` of everything that is on. */
  on: string[];
  /** Every deed, in order. */
  deeds: string[];
}

export class FakeWorld {
  readonly file: string;
  /** Called before and after each deed. */
  interfere: (what: string, context: StepContext<FakeWorld>) => void | Promise<void> = () => {};

  constructor(file: string) {
    this.file = file;
  }

  get state(): FakeState {
    return existsSync(this.file) ? JSON.parse(readFileSync(this.file, "utf8")) : { on: [], deeds: [] };
  }

  change(change: (state: FakeState) => void): void {
    const state = this.state;
    change(state);
    writeFileSync(`${this.file}.new`, JSON.stringify(state));
    renameSync(`${this.file}.new`, this.file);
  }
}

const named = z.strictObject({ name: z.string() });

function flip(on: boolean) {
  return defineAction<FakeWorld, z.output<typeof named>>(
    on ? "turns it on" : "turns it off",
    named,
    async (context, { name }) => {
      const { world, host } = context;
      const key = `${host.name}/${name}`;
      const word = `${on ? "on" : "off"} ${key}`;
      await world.interfere(`before ${word}`, context);
      world.change((state) => {
        state.deeds.push(word);
        state.on = on ? [...new Set([...state.on, key])].sort() : state.on.filter((one) => one !== key);
      });
      await world.interfere(`after ${word}`, context);
      return word;
    },
  );
}

export const fakeRegistry: Registry<FakeWorld> = {
  actions: new Map([
    ["turn-on", flip(true)],
    ["turn-off", flip(false)],
  ]),
  checks: new Map([
    [
      "is-on",
      defineCheck<FakeWorld, z.output<typeof named>>(
        "whether it is on",
        named,
        async ({ world, host }, { name }) =>
          world.state.on.includes(`${host.name}/${name}`) ? yes(`${name} is on`) : no(`${name} is off`),
      ),
    ],
    [
      "cannot-look",
      defineCheck<FakeWorld, z.output<typeof named>>("never knows", named, async () =>
        unknown("the light is out"),
      ),
    ],
    [
      "throws",
      defineCheck<FakeWorld, z.output<typeof named>>("breaks", named, async () => {
        throw new Error("broken lamp");
      }),
    ],
  ]),
};

export const fakeHosts: readonly PlaybookHost[] = [
  { name: "sched-1", roles: ["scheduler"], failureDomain: "rack-1" },
  { name: "sched-2", roles: ["scheduler"], failureDomain: "rack-2" },
  { name: "exec-1", roles: ["executor"], failureDomain: "rack-1" },
  { name: "exec-2", roles: ["executor"], failureDomain: "rack-1" },
  { name: "exec-3", roles: ["executor"], failureDomain: "rack-2" },
];
