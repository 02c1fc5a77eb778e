/** What a bundle looks at on a host. Probes of one kind are answered by one program, however many there are. */
import { shellWord, shellWords } from "./shell-quote.ts";

export type Probe =
  /** `wanted`: sum of the content we want; another content is sent back, unless it is a secret. */
  | { readonly kind: "path"; readonly path: string; readonly wanted?: string | "always" | "secret" }
  | { readonly kind: "package"; readonly name: string }
  | { readonly kind: "unit"; readonly name: string }
  | { readonly kind: "group"; readonly name: string }
  | { readonly kind: "user"; readonly name: string }
  | { readonly kind: "sysctl"; readonly key: string }
  | { readonly kind: "mount"; readonly mountPoint: string }
  | { readonly kind: "kernel-command-line" }
  | { readonly kind: "sshd"; readonly name: string }
  | { readonly kind: "nft-table"; readonly table: string };

/** Where things are on a host; another root is for tests. */
export interface HostPaths {
  /** "" or an absolute path without a slash at its end. */
  readonly root: string;
  /** Folder of transactions, pending restarts and the lock: root's alone, for its scripts are run as root. */
  readonly state: string;
}

export function hostPaths(root = ""): HostPaths {
  return { root, state: `${root}/var/lib/escapement-apply` };
}

/** As sysctl(8) reads a key: what separates first stands for a slash, the other of "." and "/" for a dot. */
export function sysctlFile(key: string, paths: HostPaths): string {
  const dots = /^[^./]*\./.test(key);
  const path = dots ? key.replace(/[./]/g, (one) => (one === "." ? "/" : ".")) : key;
  return `${paths.root}/proc/sys/${path}`;
}

/** Where the sum of a table, as the kernel listed it after we loaded it, is kept. */
export function tableSumFile(table: string, paths: HostPaths): string {
  return `${paths.state}/nft/${table}.sum`;
}

/** A shell function `esc_read` that prints the facts for these probes, each once, in a fixed order. */
export function compileRead(probes: readonly Probe[], paths: HostPaths): string {
  const at = (path: string) => paths.root + path;
  const of = <K extends Probe["kind"]>(kind: K) =>
    probes.filter((probe): probe is Extract<Probe, { kind: K }> => probe.kind === kind);
  const files = new Map<string, string>();
  for (const { path, wanted } of of("path")) {
    const code = wanted === "secret" ? "-" : wanted === "always" ? "+" : wanted;
    const before = files.get(path);
    if (before === undefined || before === "" || code === "+") files.set(path, code ?? before ?? "");
  }
  const sums = [...files].filter(([, code]) => code !== "");
  const calls: [name: string, words: readonly string[]][] = [
    ["esc_paths", [...files.keys()].map(at)],
    ["esc_files", sums.flatMap(([path, code]) => [at(path), code])],
    ["esc_packages", unique(of("package").map(({ name }) => name))],
    ["esc_units", unique(of("unit").map(({ name }) => name))],
    ["esc_groups", unique(of("group").map(({ name }) => name))],
    ["esc_users", unique(of("user").map(({ name }) => name))],
    ["esc_sysctls", unique(of("sysctl").map(({ key }) => sysctlFile(key, paths)))],
    ["esc_mounts", unique(of("mount").map(({ mountPoint }) => mountPoint))],
    ["esc_sshd", unique(of("sshd").map(({ name }) => name.toLowerCase()))],
    [
      "esc_tables",
      unique(of("nft-table").map(({ table }) => table)).flatMap((table) => [
        table,
        tableSumFile(table, paths),
      ]),
    ],
  ];
  const lines = calls
    .filter(([, words]) => words.length > 0)
    .map(([name, words]) => `  ${name} ${shellWords(words)}`);
  if (of("kernel-command-line").length > 0) lines.push("  esc_kernel_command_line");
  return ["esc_read() {", ...lines, "  esc_state", "}"].join("\n");
}

/** The variables every bundle begins with. */
export function compileHead(options: {
  readonly nonce: string;
  readonly version: number;
  readonly paths: HostPaths;
  /** Searched before the system's own programs; for tests. */
  readonly path?: string;
}): string {
  return [
    `ESC_NONCE=${shellWord(options.nonce)}`,
    `ESC_VERSION=${options.version}`,
    `ESC_ROOT=${shellWord(options.paths.root)}`,
    `ESC_STATE=${shellWord(options.paths.state)}`,
    `ESC_PATH=${shellWord(options.path ?? "")}`,
  ].join("\n");
}

function unique(words: readonly string[]): string[] {
  return [...new Set(words)].sort();
}
