/** A profile after its includes: every field with the place it was last written. */
import {
  type ProfileSections,
  requiredFields,
  type SectionName,
  sectionNames,
} from "../../spec/host-profile-schema.ts";
import type { HostResource } from "../../spec/host-resource-schema.ts";
import type { DocumentOf } from "../../spec/kinds.ts";
import type { LoadedDocument } from "../../spec/load.ts";
import { formatPosition, type Path, type Position, type Problem } from "../../spec/problem.ts";
import type { Provenance } from "../resource.ts";

export type ProfileDocument = LoadedDocument<"HostProfile"> & { readonly value: DocumentOf<"HostProfile"> };

export interface PlacedResource extends Position {
  readonly resource: HostResource;
}

/** One section with all of its fields. */
export class Section<S extends SectionName> {
  constructor(
    readonly name: S,
    readonly value: ProfileSections[S],
    /** Of the section where it was first written. */
    readonly at: Position,
    readonly places: ReadonlyMap<string, Position>,
  ) {}

  /** The place of a field, by its dotted path inside the section; of the section where it has none. */
  placeOf(field: string): Position {
    return this.places.get(field) ?? this.at;
  }

  /** That a value was written down in a profile, and where. */
  written(field: string, shown: string | number | boolean): Provenance {
    return {
      key: `${this.name}.${field}`,
      value: String(shown),
      from: formatPosition(this.placeOf(field)),
    };
  }
}

export interface ResolvedProfile {
  readonly name: string;
  readonly at: Position;
  /** In the order of the schema. */
  readonly sections: ReadonlyMap<SectionName, Section<SectionName>>;
  readonly resources: readonly PlacedResource[];
}

interface Leaf {
  readonly path: Path;
  readonly value: unknown;
  readonly place: Position;
}

/**
 * @param chain the included profiles, farthest first, and last the profile itself
 * @returns the profile, or what it lacks
 */
export function mergeProfiles(chain: readonly ProfileDocument[]): {
  readonly profile: ResolvedProfile;
  readonly problems: readonly Problem[];
} {
  const own = chain.at(-1)!;
  const sections = new Map<SectionName, Section<SectionName>>();
  const problems: Problem[] = [];
  for (const name of sectionNames) {
    const from = chain.filter(({ value }) => value.spec[name] !== undefined);
    const first = from[0];
    if (!first) continue;
    const leaves = new Map<string, Leaf>();
    for (const document of from) {
      for (const leaf of leavesOf(document, ["spec", name], document.value.spec[name])) {
        const key = leaf.path.slice(2).join(".");
        // A map that replaces a single value, or the other way round, leaves nothing of the old one.
        for (const known of leaves.keys()) {
          if (known.startsWith(`${key}.`) || key.startsWith(`${known}.`)) leaves.delete(known);
        }
        leaves.set(key, leaf);
      }
    }
    const value = assemble([...leaves.values()]);
    const place = (from.includes(own) ? own : first).positionOf(["spec", name], "key");
    for (const field of requiredFields(name)) {
      if (leaves.has(field)) continue;
      problems.push({
        ...place,
        path: `spec.${name}.${field}`,
        message: "is missing: neither this profile nor one that it includes says it",
      });
    }
    sections.set(
      name,
      new Section(
        name,
        value as unknown as ProfileSections[SectionName],
        place,
        new Map([...leaves].map(([key, leaf]) => [key, leaf.place])),
      ),
    );
  }
  const resources = chain.flatMap((document) =>
    document.value.spec.resources.map((resource, i) => ({
      resource,
      ...document.positionOf(["spec", "resources", i]),
    })),
  );
  const { file, line, column } = own;
  return {
    profile: { name: own.value.metadata.name, at: { file, line, column }, sections, resources },
    problems,
  };
}

function leavesOf(document: ProfileDocument, path: Path, value: unknown): Leaf[] {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) {
    const entries = Object.entries(value).filter(([, one]) => one !== undefined);
    return entries.flatMap(([key, one]) => leavesOf(document, [...path, key], one));
  }
  return [{ path, value, place: document.positionOf(path) }];
}

function assemble(leaves: readonly Leaf[]): Record<string, unknown> {
  const root: Record<string, unknown> = {};
  for (const { path, value } of leaves) {
    let at = root;
    const inside = path.slice(2);
    for (const part of inside.slice(0, -1)) {
      at[part] ??= {};
      at = at[part] as Record<string, unknown>;
    }
    at[String(inside.at(-1))] = value;
  }
  return root;
}
