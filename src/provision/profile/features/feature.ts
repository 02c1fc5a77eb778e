/** What every feature is: a section of a profile, and the host, turned into resources. */
import type { SectionName } from "../../../spec/host-profile-schema.ts";
import type { Resource } from "../../resource.ts";
import type { HostContext } from "../host-context.ts";
import type { Section } from "../resolved-profile.ts";

export type Feature<S extends SectionName> = (
  section: Section<S>,
  context: HostContext,
) => readonly Resource[];
