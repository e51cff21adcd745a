import {
  chownSync,
  createWriteStream,
  existsSync,
  mkdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { buffer } from "node:stream/consumers";
import { pipeline } from "node:stream/promises";
import { type Entry, openPromise, type ZipFile } from "yauzl";
import { claimDataFolder } from "./claim.mjs";
import { findHome, type Home } from "./home";
import { hasState, parseState, type State, writeState } from "./state";

/**
 * Unpacks a backup of `writeBackup` into a data folder without a database. The next start recovers the database from it.
 * @param log receives messages for the user
 * @throws AlreadyRunningError; Error if the folder has a database, or the file is not such a backup
 */
export async function restoreBackup(
  dataDir: string,
  file: string,
  log: (message: string) => void,
): Promise<void> {
  const claim = await claimDataFolder(dataDir);
  try {
    if (hasState(claim.dataDir)) {
      throw new Error(
        `${claim.dataDir} has a database already. Name an empty folder in OUTLAY_DATA_DIR, or move this one away.`,
      );
    }
    // yauzl refuses names of files outside the folder.
    const zip = await openPromise(file).catch((cause: Error) => {
      throw new Error(`${file} cannot be read as a backup: ${cause.message}`, { cause });
    });
    let state: State | undefined;
    let home: Home | undefined;
    for await (const entry of zip.eachEntry()) {
      const { fileName: name } = entry;
      // The first entry.
      if (name === "postgres.json") {
        state = parseState((await contentOf(zip, entry)).toString(), file);
        state.dataDir = claim.dataDir;
        home = findHome(claim.dataDir, state, log);
        rmSync(freshIn(home), { recursive: true, force: true });
      } else if (!home) {
        throw new Error(`${file} is not a backup of Outlay.`);
      } else if (name.startsWith("cluster/")) {
        await unpack(zip, entry, join(freshIn(home), name.slice("cluster/".length)), home);
      } else if (/^[a-z-]+$/.test(name)) {
        writeFileSync(join(claim.dataDir, name), await contentOf(zip, entry), { mode: 0o600 });
      }
    }
    if (!state || !home || !existsSync(join(freshIn(home), "PG_VERSION"))) {
      throw new Error(`${file} is not a backup of Outlay.`);
    }
    renameSync(freshIn(home), home.cluster);
    // Written last, because a folder with this file must have a complete database.
    writeState(claim.dataDir, state);
  } finally {
    claim.release();
  }
}

/** The folder of the cluster until it is complete. `ensureCluster` deletes the rest of an interrupted restore. */
const freshIn = ({ home }: Home) => join(home, "cluster.new");

/** Writes an entry of the cluster, owned by the account of Postgres. */
async function unpack(zip: ZipFile, entry: Entry, path: string, home: Home): Promise<void> {
  const isFolder = path.endsWith("/");
  for (const folder of missingFolders(isFolder ? path : dirname(path))) {
    mkdirSync(folder, { mode: 0o700 });
    own(folder, home);
  }
  if (isFolder) return;
  await pipeline(await zip.openReadStreamPromise(entry), createWriteStream(path, { mode: 0o600 }));
  own(path, home);
}

function missingFolders(folder: string): string[] {
  return existsSync(folder) ? [] : [...missingFolders(dirname(folder)), folder];
}

function own(path: string, { account }: Home): void {
  if (account) chownSync(path, account.uid, account.gid);
}

async function contentOf(zip: ZipFile, entry: Entry): Promise<Buffer> {
  return buffer(await zip.openReadStreamPromise(entry));
}
