import { createHash } from "node:crypto";
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { accountForPostgres, canEnter, type SystemAccount } from "./account";
import type { State } from "./state";

/** The cluster's folder and account. `home` contains `cluster/`, and a copy of the binaries if one is needed. */
export type Home = { home: string; cluster: string; account: SystemAccount | undefined };

/**
 * Finds the cluster's home: `postgres/` in the data folder, or, if Postgres's account cannot enter that folder (a repository in root's
 * home), a folder under /var/lib/outlay whose name is derived from the data folder's path. Sets `state.home` in that case; the caller
 * writes the state.
 * @throws Error if there is no such place, or the data folder is a copy of one whose cluster is elsewhere
 */
export function findHome(dataDir: string, state: State, log: (message: string) => void): Home {
  if (state.home) return recorded(dataDir, state.home, state);
  const inside = join(dataDir, "postgres");
  const account = accountForPostgres(join(inside, "cluster"));
  mkdirSync(inside, { recursive: true, mode: account ? 0o755 : 0o700 });
  if (canEnter(inside, account)) return at(inside, account);

  const outside = unusedPlace(dataDir);
  try {
    mkdirSync(outside, { recursive: true, mode: 0o755 });
  } catch (cause) {
    throw unreachable(dataDir, account, cause);
  }
  if (!canEnter(outside, account)) throw unreachable(dataDir, account);
  log(`${dataDir} is closed to the account ${account?.name}, so the database is kept in ${outside}.`);
  state.home = outside;
  return at(outside, account);
}

/** A free folder under /var/lib/outlay. An existing one is kept: it belongs to an earlier data folder with this path, which was deleted. */
function unusedPlace(dataDir: string): string {
  const place = join("/var/lib/outlay", createHash("sha256").update(dataDir).digest("hex").slice(0, 16));
  for (let number = 1; ; number += 1) {
    const candidate = number === 1 ? place : `${place}-${number}`;
    if (!existsSync(join(candidate, "cluster"))) return candidate;
  }
}

function recorded(dataDir: string, home: string, state: State): Home {
  if (state.dataDir !== dataDir && existsSync(join(state.dataDir, "postgres.json"))) {
    throw new Error(
      `${dataDir} is a copy of ${state.dataDir}, whose database is kept in ${home}. ` +
        "Two data folders cannot share it: delete the copy, or set OUTLAY_DATA_DIR.",
    );
  }
  return at(home, accountForPostgres(join(home, "cluster")));
}

function at(home: string, account: SystemAccount | undefined): Home {
  return { home, cluster: join(home, "cluster"), account };
}

function unreachable(dataDir: string, account: SystemAccount | undefined, cause?: unknown): Error {
  return new Error(
    `The embedded Postgres runs as ${account?.name}, which can reach neither ${dataDir} nor /var/lib/outlay. ` +
      "Set OUTLAY_DATA_DIR to a folder it can reach, or start Outlay as an ordinary user.",
    { cause },
  );
}
