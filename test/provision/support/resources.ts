/** Resources with everything that a test does not care for filled in. */
import type {
  DirectoryResource,
  FileResource,
  Resource,
  Restart,
  UnitResource,
} from "../../../src/provision/resource.ts";

const common = { risk: "low", noop: "as it should be", after: [], restarts: [], provenance: [] } as const;

export function file(path: string, content: string, more: Partial<FileResource> = {}): FileResource {
  return {
    ...common,
    kind: "file",
    id: `file:${path}`,
    path,
    content,
    owner: "root",
    group: "root",
    mode: 0o644,
    ...more,
  };
}

export function directory(path: string, more: Partial<DirectoryResource> = {}): DirectoryResource {
  return {
    ...common,
    kind: "directory",
    id: `directory:${path}`,
    path,
    owner: "root",
    group: "root",
    mode: 0o755,
    ...more,
  };
}

export function unit(name: string, more: Partial<UnitResource> = {}): UnitResource {
  return { ...common, kind: "unit", id: `unit:${name}`, name, enabled: true, running: true, ...more };
}

/** Any other kind, by its own fields. */
export function resource<R extends Resource>(fields: Omit<R, keyof typeof common> & Partial<R>): R {
  return { ...common, ...fields } as unknown as R;
}

export function restart(name: string, more: Partial<Restart> = {}): Restart {
  return { unit: name, action: "restart", ...more };
}
