/** Entries of a profile's own `resources`, as the plan wants them. */
import { formatPosition } from "../../spec/problem.ts";
import type { Resource } from "../resource.ts";
import type { PlacedResource } from "./resolved-profile.ts";

/** The same for every host of a profile, so made once. */
const made = new WeakMap<PlacedResource, Resource>();

export function userResource(placed: PlacedResource): Resource {
  const resource = made.get(placed) ?? makeResource(placed);
  made.set(placed, resource);
  return resource;
}

function makeResource(placed: PlacedResource): Resource {
  const { resource } = placed;
  const from = formatPosition(placed);
  const id = idOf(resource);
  const { risk, after, restarts } = resource;
  const common = {
    id,
    risk,
    after,
    restarts,
    noop: `${id.replace(":", " ")} is as described`,
    provenance: [{ key: `resources.${id}`, value: shownValue(resource), from }],
  };
  switch (resource.kind) {
    case "file": {
      const { path, content = "", absent, owner, group, mode, validate } = resource;
      return {
        ...common,
        kind: "file",
        path,
        content,
        owner,
        group,
        mode,
        ...(absent && { absent }),
        ...(validate && { validator: { name: validate[0]!, argv: validate } }),
      };
    }
    case "package": {
      const { name, state, version } = resource;
      return { ...common, kind: "package", name, state, ...(version !== undefined && { version }) };
    }
    case "nft-table": {
      const { table, rules } = resource;
      return { ...common, kind: "nft-table", family: "inet", table, rules };
    }
    default:
      return { ...resource, ...common } as Resource;
  }
}

export function idOf(resource: PlacedResource["resource"]): string {
  switch (resource.kind) {
    case "file":
    case "directory":
      return `${resource.kind}:${resource.path}`;
    case "mount-option":
      return `mount-option:${resource.mountPoint}`;
    case "sysctl":
      return `sysctl:${resource.key}`;
    case "nft-table":
      return `nft-table:inet:${resource.table}`;
    case "time-zone":
      return "time-zone";
    default:
      return `${resource.kind}:${resource.name}`;
  }
}

function shownValue(resource: PlacedResource["resource"]): string {
  switch (resource.kind) {
    case "sysctl":
    case "kernel-parameter":
    case "sshd-option":
      return resource.value;
    case "mount-option":
      return resource.options.join(",");
    case "package":
      return resource.version ?? resource.state;
    default:
      return "written out";
  }
}
