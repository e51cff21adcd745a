import { createReadStream, createWriteStream } from "node:fs";
import { readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { Client } from "pg";
import { ZipFile } from "yazl";
import { loginUrl } from "./cluster";
import { readState } from "./state";

/** Folders of a cluster whose content the next start recreates ("Making a Base Backup Using the Low Level API", Postgres 17). */
const emptied =
  /^(pg_wal|pg_replslot|pg_dynshmem|pg_notify|pg_serial|pg_snapshots|pg_stat_tmp|pg_subtrans)\/|(^|\/)pgsql_tmp[^/]*\//;

/** Files that belong only to the running server. */
const omitted =
  /(^|\/)(postmaster\.(pid|opts)|pg_internal\.init[^/]*|pgsql_tmp[^/]*|(backup_label|tablespace_map)(\.old)?)$/;

/** The file with the position at which recovery begins. It is copied last. */
const controlFile = "global/pg_control";

/**
 * Writes a backup of the embedded database of a data folder into a zip file: the cluster, copied while its server runs, the write-ahead
 * log of that time, and the folder's secrets. It restores the state at the end of the backup (`restoreBackup`).
 * @param dataDir of a running Postgres
 * @param file is created, readable only by its owner; an interrupted backup leaves only `<file>.partial`
 * @throws Error if the server cannot be reached or the file cannot be written
 */
export async function writeBackup(dataDir: string, file: string): Promise<void> {
  const state = readState(dataDir);
  const folder = { dataDir, home: state.home ?? join(dataDir, "postgres") };
  const client = new Client({ connectionString: loginUrl(state, state.port ?? 0, "supabase_admin") });
  client.on("error", () => {});
  await client.connect();
  const draft = `${file}.partial`;
  try {
    const zip = new ZipFile();
    zip.on("error", (error) => (zip.outputStream as Readable).destroy(error as Error));
    const written = pipeline(zip.outputStream, createWriteStream(draft, { mode: 0o600 }));
    const filled = fill(zip, client, folder).catch((error: Error) => {
      (zip.outputStream as Readable).destroy(error);
      throw error;
    });
    await Promise.all([filled, written]);
    await rename(draft, file);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  } finally {
    await client.end();
  }
}

async function fill(zip: ZipFile, client: Client, folder: { dataDir: string; home: string }): Promise<void> {
  const cluster = join(folder.home, "cluster");
  const { home: _, ...state } = readState(folder.dataDir);
  zip.addBuffer(Buffer.from(JSON.stringify(state)), "postgres.json", { mode: 0o600 });
  for (const entry of await readdir(folder.dataDir, { withFileTypes: true })) {
    const isOurs = entry.isFile() && /^[a-z-]+$/.test(entry.name);
    if (isOurs) zip.addFile(join(folder.dataDir, entry.name), entry.name, { mode: 0o600 });
  }
  // The slot keeps the write-ahead log from here on, until this connection ends.
  await client.query("select pg_create_physical_replication_slot($1, true, true)", [`outlay_${process.pid}`]);
  const { rows: begun } = await client.query<{ segment: string }>(
    "select pg_walfile_name(lsn) as segment from pg_backup_start('outlay', true) as lsn",
  );
  for (const entry of await readdir(cluster, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name)
      .slice(cluster.length + 1)
      .replaceAll("\\", "/");
    if (emptied.test(path) || omitted.test(path) || path === controlFile) continue;
    if (entry.isDirectory()) zip.addEmptyDirectory(`cluster/${path}`, { mode: 0o700 });
    else if (entry.isFile()) void addNow(zip, cluster, path);
  }
  await addNow(zip, cluster, controlFile);
  const { rows: ended } = await client.query<{ labelfile: string; segment: string }>(
    "select labelfile, pg_walfile_name(lsn) as segment from pg_backup_stop(false)",
  );
  const [first, last] = [begun[0]?.segment ?? "", ended[0]?.segment ?? ""];
  zip.addBuffer(Buffer.from(ended[0]?.labelfile ?? ""), "cluster/backup_label", { mode: 0o600 });
  const segments = (await readdir(join(cluster, "pg_wal"))).filter(
    (name) => /^[0-9A-F]{24}$/.test(name) && name >= first && name <= last,
  );
  // The log is read before the connection and with it the slot ends.
  const read = segments.map((name) => addNow(zip, cluster, `pg_wal/${name}`));
  zip.end();
  await Promise.all(read);
}

/** Adds a file, which is read when its turn comes. Resolves when it was read. A file that no longer exists then is added empty. */
function addNow(zip: ZipFile, cluster: string, path: string): Promise<void> {
  return new Promise((resolve) => {
    zip.addReadStreamLazy(`cluster/${path}`, { mode: 0o600 }, (give) => {
      const stream = createReadStream(join(cluster, path));
      stream.once("open", () => give(null, stream));
      stream.once("close", resolve);
      stream.once("error", (error: NodeJS.ErrnoException) => {
        // The file was dropped meanwhile. The write-ahead log has that, too.
        if (error.code === "ENOENT") give(null, Readable.from([]));
        else give(error, stream);
      });
    });
  });
}
