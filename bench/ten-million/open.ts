import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Client } from "pg";
import { type EmbeddedPostgres, startEmbeddedPostgres } from "@/lib/db/embedded/server";
import { bootstrapDatabaseAt, migrate } from "@/lib/db/migrate";
import { foldPastDays } from "@/lib/ledger/folding/service";
import { makeDataDir } from "@/tests/helpers/cluster";
import { projectRoot } from "@/tests/helpers/project-root";
import { type FilledHistory, fillHistory } from "./fill";

/** The number of postings in the `small` workspace. */
const smallPostings = 10_000;

/** Nine weeks are recorded, and copied to the days before. */
const threeYears = { days: 63, copies: 17 };

/** A running Postgres with a filled history and its workspaces. `stop()` ends it. */
export type OpenHistory = {
  postgres: EmbeddedPostgres;
  history: FilledHistory;
  postings: number;
  stop(): Promise<void>;
};

/**
 * Starts a Postgres with a history of a number of postings. Filling ten million takes some minutes.
 * @param dataDir a folder that is kept, and used again if it was filled before; by default a temporary one that is removed
 */
export async function openHistory(
  postings: number,
  dataDir: string | undefined,
  say: (line: string) => void,
): Promise<OpenHistory> {
  const folder = dataDir ?? makeDataDir();
  if (dataDir !== undefined) mkdirSync(dataDir, { recursive: true, mode: 0o755 });
  const recordFile = join(folder, "history.json");
  const remove = () => dataDir === undefined && rmSync(folder, { recursive: true, force: true });
  try {
    if (!existsSync(recordFile)) {
      const history = await fill(folder, postings, say);
      writeFileSync(recordFile, JSON.stringify({ postings, history }));
    }
    const record: { postings: number; history: FilledHistory } = JSON.parse(readFileSync(recordFile, "utf8"));
    const postgres = await startEmbeddedPostgres({ dataDir: folder, log: () => {} });
    await bootstrapDatabaseAt(postgres.superuserUrl, join(projectRoot, "supabase/bootstrap"));
    await migrate(postgres.adminUrl, join(projectRoot, "supabase/migrations"));
    await foldAll(postgres.adminUrl);
    const stop = async () => {
      await postgres.stop();
      remove();
    };
    return { postgres, ...record, stop };
  } catch (error) {
    remove();
    throw error;
  }
}

/** Folds all past days, as the service's job does in the background. */
async function foldAll(adminUrl: string): Promise<void> {
  const client = new Client({ connectionString: adminUrl });
  await client.connect();
  try {
    while ((await foldPastDays(client)) !== null);
    for (const table of ["monthly_spend", "monthly_totals"])
      await client.query(`vacuum analyze public.${table}`);
  } finally {
    await client.end();
  }
}

/** Fills an empty data folder. Durability is off meanwhile, because a partly filled folder is of no use. */
async function fill(dataDir: string, postings: number, say: (line: string) => void): Promise<FilledHistory> {
  const overrides = {
    fsync: "off",
    full_page_writes: "off",
    max_wal_size: "4GB",
    maintenance_work_mem: "512MB",
  };
  const postgres = await startEmbeddedPostgres({ dataDir, log: () => {}, overrides });
  try {
    await bootstrapDatabaseAt(postgres.superuserUrl, join(projectRoot, "supabase/bootstrap"));
    await migrate(postgres.adminUrl, join(projectRoot, "supabase/migrations"));
    await postgres.enableServiceLogin();
    const now = Date.now();
    return await fillHistory(postgres.adminUrl, { postings, small: smallPostings, now, ...threeYears, say });
  } finally {
    await postgres.stop();
  }
}
