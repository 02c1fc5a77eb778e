/** An Ansible inventory in YAML: groups with `hosts`, `vars` and `children`. */
import { expandHostPattern, splitPort } from "./ansible-host-range.ts";
import { AnsibleModel, type AnsibleVariables } from "./ansible-inventory-model.ts";
import type { Path } from "./problem.ts";
import { parseYaml, type YamlDocument } from "./yaml.ts";

/** Groups within groups, at most. */
const deepest = 50;
/** Ansible's own tags: what they mark stays as it is written, for whoever can open it. */
const plainTags = ["!vault", "!vault-encrypted", "!unsafe"];

/** Never throws. */
export function parseAnsibleYaml(text: string, file: string): AnsibleModel {
  const model = new AnsibleModel();
  const { documents, problems } = parseYaml(text, file, { plainTags });
  model.problems.push(...problems);
  const [document, second] = documents;
  if (problems.length > 0) return model;
  if (!document || second) {
    model.complain(
      second ? second.positionOf([]) : { file, line: 0, column: 0 },
      second ? "has a second document; an inventory is one" : "is empty",
    );
    return model;
  }
  if (!isMap(document.value)) {
    model.complain(document.positionOf([]), "must be a map of groups");
    return model;
  }
  for (const [name, group] of Object.entries(document.value)) readGroup(name, group, [name], document, model);
  return model;
}

function readGroup(
  name: string,
  value: unknown,
  path: Path,
  document: YamlDocument,
  model: AnsibleModel,
): void {
  const complain = (message: string, ...tail: (string | number)[]) =>
    model.complain(document.positionOf([...path, ...tail], "key"), message, [...path, ...tail].join("."));
  const group = model.group(name);
  group.defined = true;
  if (value === null) return;
  if (!isMap(value)) {
    complain("must be a map with hosts, vars and children");
    return;
  }
  if (path.length > deepest * 2) {
    complain("is nested too deeply");
    return;
  }
  for (const [part, content] of Object.entries(value)) {
    if (part !== "hosts" && part !== "vars" && part !== "children") {
      complain("is not a known field; a group has hosts, vars and children", part);
      continue;
    }
    if (content === null) continue;
    if (!isMap(content)) {
      complain("must be a map", part);
      continue;
    }
    if (part === "vars") {
      for (const [key, variable] of variablesOf(content, [...path, part], document))
        group.variables.set(key, variable);
    } else if (part === "children") {
      for (const [child, inner] of Object.entries(content)) {
        const place = [...path, part, child];
        group.children.set(child, document.positionOf(place, "key"));
        readGroup(child, inner, place, document, model);
      }
    } else readHosts(content, group.name, [...path, part], document, model);
  }
}

function readHosts(
  content: Record<string, unknown>,
  groupName: string,
  path: Path,
  document: YamlDocument,
  model: AnsibleModel,
): void {
  for (const [pattern, value] of Object.entries(content)) {
    const place = [...path, pattern];
    const at = document.positionOf(place, "key");
    if (value !== null && !isMap(value)) {
      model.complain(at, "must be a map of variables, or empty", place.join("."));
      continue;
    }
    const variables = variablesOf(value ?? {}, place, document);
    const { host, port } = splitPort(pattern);
    const names = host !== pattern && pattern.startsWith("[") ? [host] : expandHostPattern(host);
    if (typeof names === "string") {
      model.complain(at, names, place.join("."));
      continue;
    }
    if (port !== undefined && !variables.has("ansible_port"))
      variables.set("ansible_port", { ...at, value: port });
    for (const name of names) model.addHost(name, model.group(groupName), at, variables);
  }
}

function variablesOf(content: Record<string, unknown>, path: Path, document: YamlDocument): AnsibleVariables {
  return new Map(
    Object.entries(content).map(([key, value]) => [
      key,
      { ...document.positionOf([...path, key], "key"), value },
    ]),
  );
}

function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
