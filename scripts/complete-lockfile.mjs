// Adds optional packages of other platforms to package-lock.json that were missing from the registry when the lockfile was
// written. On every platform, `npm ci` refuses a lockfile that lacks one. With --check, it only reports missing packages. Run it after
// adding or updating a package.
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const file = fileURLToPath(new URL("../package-lock.json", import.meta.url));
const lock = JSON.parse(readFileSync(file, "utf8"));
const missing = [];

for (const [path, entry] of Object.entries(lock.packages)) {
  for (const [name, version] of Object.entries(entry.optionalDependencies ?? {})) {
    const places = [`${path}/node_modules/${name}`, `node_modules/${name}`];
    if (places.some((place) => lock.packages[place])) continue;
    missing.push(name);
    lock.packages[`node_modules/${name}`] = {
      version,
      ...platformOf(name),
      ...(entry.dev && { dev: true }),
      optional: true,
    };
  }
}

if (process.argv.includes("--check")) {
  if (missing.length > 0) {
    console.error(`package-lock.json lacks ${missing.join(", ")}: run node scripts/complete-lockfile.mjs`);
    process.exitCode = 1;
  }
} else if (missing.length > 0) {
  lock.packages = Object.fromEntries(Object.entries(lock.packages).sort(([a], [b]) => (a < b ? -1 : 1)));
  writeFileSync(file, `${JSON.stringify(lock, null, 2)}\n`);
}

/** The platform of a package, by its name: `@next/swc-linux-x64-musl`. */
function platformOf(name) {
  const words = name.replace("windows", "win32").split(/[/-]/);
  const first = (values) => values.find((value) => words.includes(value));
  const os = first(["android", "darwin", "freebsd", "linux", "openharmony", "win32"]);
  const cpu = first(["arm", "arm64", "ia32", "ppc64", "riscv64", "s390x", "wasm32", "x64"]);
  if (!cpu) throw new Error(`${name}: its name does not say what it is for.`);
  const libc = words.some((word) => word.startsWith("musl"))
    ? "musl"
    : words.includes("gnu")
      ? "glibc"
      : undefined;
  return { cpu: [cpu], ...(libc && { libc: [libc] }), ...(os && { os: [os] }) };
}
