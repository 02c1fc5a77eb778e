/** What the tests need from Debian, and how it is installed. To add a need, add a line to `tiers`. */
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { SetupError, say } from "./place.mjs";

/** `present` must be quick: it runs before every test run. */
const tiers = [
  { tier: "PostgreSQL of the system", package: "postgresql", present: () => hasSystemPostgres() },
  { tier: "pgbouncer", package: "pgbouncer", present: () => existsSync("/usr/sbin/pgbouncer") },
  { tier: "hosts of the lab", package: "debootstrap", present: () => existsSync("/usr/sbin/debootstrap") },
  {
    tier: "hosts of the lab",
    package: "systemd-container",
    present: () => existsSync("/usr/bin/systemd-nspawn"),
  },
  {
    tier: "virtual machines of the lab",
    package: "qemu-system-x86",
    present: () => hasProgram("qemu-system-x86_64"),
  },
  { tier: "virtual machines of the lab", package: "qemu-utils", present: () => hasProgram("qemu-img") },
  { tier: "hosts of the lab", package: "iproute2", present: () => hasProgram("ip") },
  { tier: "hosts of the lab", package: "nftables", present: () => hasProgram("nft") },
  { tier: "hosts of the lab", package: "apt-utils", present: () => hasProgram("apt-ftparchive") },
  { tier: "hosts of the lab", package: "openssh-client", present: () => hasProgram("ssh-keygen") },
  {
    tier: "LibreOffice Calc",
    package: "libreoffice-calc-nogui",
    present: () => existsSync("/usr/bin/soffice") || existsSync("/usr/bin/libreoffice"),
  },
  { tier: "process-level clock faults", package: "libfaketime", present: () => hasFaketime() },
  {
    tier: "Python example with psycopg",
    package: "python3-psycopg",
    present: () => existsSync("/usr/lib/python3/dist-packages/psycopg"),
  },
  {
    tier: "Python example with psycopg2",
    package: "python3-psycopg2",
    present: () => existsSync("/usr/lib/python3/dist-packages/psycopg2"),
  },
  {
    tier: "chronyd, which reads what profiles write",
    package: "chrony",
    present: () => hasProgram("chronyd"),
  },
  {
    tier: "keepalived, which reads what profiles write",
    package: "keepalived",
    present: () => hasProgram("keepalived"),
  },
  {
    tier: "promtool, which reads our alert rules",
    package: "prometheus",
    present: () => hasProgram("promtool"),
  },
  { tier: "OpenSSH server", package: "openssh-server", present: () => existsSync("/usr/sbin/sshd") },
  {
    tier: "Alertmanager, which the watchman posts to",
    package: "prometheus-alertmanager",
    present: () => existsSync("/usr/bin/prometheus-alertmanager"),
  },
  {
    tier: "xmllint, which reads our JUnit reports",
    package: "libxml2-utils",
    present: () => hasProgram("xmllint"),
  },
  { tier: "terminals that tests type on", package: "python3", present: () => hasProgram("python3") },
  { tier: "sudo", package: "sudo", present: () => existsSync("/usr/bin/sudo") },
  { tier: "C shell", package: "csh", present: () => existsSync("/bin/csh") },
  { tier: "shell example", package: "curl", present: () => existsSync("/usr/bin/curl") },
  {
    tier: "PostgreSQL driver of the Java example",
    package: "libpostgresql-jdbc-java",
    present: () => existsSync("/usr/share/java/postgresql.jar"),
  },
  {
    tier: "Java compiler of the Java example",
    package: "default-jdk-headless",
    present: () => existsSync("/usr/bin/javac"),
    // 116 MB to fetch: only where nothing may be skipped.
    large: true,
  },
];

/** Debian keeps each version in a folder of its own. */
export function hasSystemPostgres() {
  return list("/usr/lib/postgresql").some(
    (major) => Number(major) >= 15 && existsSync(`/usr/lib/postgresql/${major}/bin/initdb`),
  );
}

function hasFaketime() {
  return list("/usr/lib").some((folder) => existsSync(`/usr/lib/${folder}/faketime/libfaketimeMT.so.1`));
}

function hasProgram(name) {
  return ["/usr/sbin", "/usr/bin", "/sbin", "/bin"].some((folder) => existsSync(`${folder}/${name}`));
}

function list(folder) {
  return existsSync(folder) ? readdirSync(folder) : [];
}

/** Large packages are installed only where no test may be skipped. */
function wanted() {
  return tiers.filter((one) => !one.large || process.env.ESCAPEMENT_REQUIRE_ALL === "1");
}

/** Installs what is missing, where we may. @returns the tiers that stay missing, with the reason */
export function ensureDebianPackages() {
  const missing = wanted().filter((one) => !one.present());
  if (missing.length === 0) return [];
  const reason = whyNot();
  if (reason === undefined) install(missing.map((one) => one.package));
  return missing
    .filter((one) => !one.present())
    .map((one) => ({ tier: one.tier, reason: reason ?? `package ${one.package} did not bring it` }));
}

function whyNot() {
  if (!existsSync("/etc/debian_version")) return "not a Debian system";
  if (process.getuid?.() !== 0) return "not root, so no Debian package can be installed";
  return undefined;
}

export function install(packages) {
  say(`installing Debian packages: ${packages.join(" ")}`);
  apt("update", "-qq");
  apt("install", "-y", "-qq", "--no-install-recommends", ...packages);
}

function apt(...args) {
  const result = spawnSync("apt-get", args, {
    stdio: ["ignore", "ignore", "inherit"],
    // Services are started by what belongs to run level 2 to 5; in level 1 a package only installs itself.
    env: { ...process.env, DEBIAN_FRONTEND: "noninteractive", RUNLEVEL: "1" },
  });
  if (result.status !== 0) {
    throw new SetupError(
      `apt-get ${args[0]} ended with ${result.status ?? result.error?.message}`,
      "see its messages above; npm run setup tries again",
    );
  }
}
