/** Resources of a profile that would do something else than they say: each is refused at its place. */
import { expect, test } from "vitest";
import { formatProblem } from "../../../src/spec/problem.ts";
import { withProfile } from "./site.ts";

const head = "apiVersion: escapement/v1\nkind: HostProfile\nmetadata:\n  name: own\nspec:\n";

/** The text below `spec:`, and the one line that is said about it. */
const unsafe: readonly [string, string, RegExp][] = [
  ...['"/a\\tb"', '"/a\\e[31m"', "/é", "/a\\b", "/etc/../x", "/x/", "/a//b", "/.", "/a/.."].map(
    (path): [string, string, RegExp] => [
      `the path ${path}`,
      `  resources:\n    - kind: file\n      path: ${path}\n      content: a`,
      /^own\.yaml:8:13 {2}spec\.resources\[0\]\.path must be an absolute path in plain ASCII/,
    ],
  ),
  [
    "a package that apt would take off",
    "  resources:\n    - kind: package\n      name: openssh-server-",
    /^own\.yaml:8:13 {2}.*must be the name of a Debian package/,
  ],
  [
    "a kernel parameter that a shell would run",
    "  resources:\n    - kind: kernel-parameter\n      name: x\n      value: $(reboot)",
    /^own\.yaml:9:14 {2}.*must be one word/,
  ],
  [
    "a zone outside of the zones",
    "  resources:\n    - kind: time-zone\n      zone: ../../../etc/passwd",
    /^own\.yaml:8:13 {2}.*must be the name of a time zone/,
  ],
  [
    "a directive of two lines",
    '  resources:\n    - kind: sshd-option\n      name: Banner\n      value: "none\\rPermitRootLogin yes"',
    /^own\.yaml:9:14 {2}.*must be text on one line/,
  ],
  [
    "a network with a rule behind it",
    '  includes: [base]\n  firewall:\n    open:\n      - { port: 1, protocol: tcp, why: x, from: ["0.0.0.0/0 accept"] }',
    /^own\.yaml:9:50 {2}.*must be an IP address or a network/,
  ],
  [
    "a validator of two lines",
    '  resources:\n    - kind: file\n      path: /x\n      content: a\n      validate: [sh, -c, "a\\nb"]',
    /^own\.yaml:10:26 {2}spec\.resources\[0\]\.validate\[2\] has a control character in it/,
  ],
  [
    "a file that nobody has written",
    "  resources:\n    - kind: file\n      path: /etc/x",
    /^own\.yaml:7:7 {2}spec\.resources\[0\]\.content is missing/,
  ],
  [
    "a file with a text that must not be there",
    "  resources:\n    - kind: file\n      path: /etc/x\n      content: a\n      absent: true",
    /^own\.yaml:9:16 {2}spec\.resources\[0\]\.content /,
  ],
  [
    "resources that wait for each other",
    "  resources:\n    - { kind: file, path: /x, content: a, after: ['file:/y'] }\n    - { kind: file, path: /y, content: a, after: ['file:/x'] }",
    /^own\.yaml:7:7 {2}spec\.resources waits for itself: file:\/x → file:\/y → file:\/x/,
  ],
  [
    "a file and a directory of one path",
    "  resources:\n    - { kind: file, path: /x, content: a }\n    - { kind: directory, path: /x }",
    /^own\.yaml:8:7 {2}spec\.resources is a directory at \/x, where a file stands as well/,
  ],
];

test.each(unsafe)("%s", async (_, text, expected) => {
  const { problems } = await withProfile(`${head}${text}\n`);
  expect(problems.map(formatProblem)).toEqual([expect.stringMatching(expected)]);
});
