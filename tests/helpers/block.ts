import { Client } from "pg";
import { vi } from "vitest";

/** A lock on the ledger that the test's own session holds: nothing is written until it is released. */
export type Block = {
  /** Waits until this number of sessions of the database wait for a lock. */
  holdsUp(sessions: number): Promise<void>;
  release(): Promise<void>;
};

/** Blocks every write to `public.messages`. */
export async function blockWrites(adminUrl: string): Promise<Block> {
  const client = new Client({ connectionString: adminUrl });
  await client.connect();
  await client.query("begin; lock table public.messages in share mode");
  return {
    holdsUp: async (sessions) => {
      await vi.waitUntil(async () => (await waitingSessions(client)) >= sessions, {
        timeout: 30_000,
        interval: 10,
      });
    },
    release: () => client.end(),
  };
}

/**
 * The number of sessions of this database that wait for a lock.
 * @param statement a part of the statement that waits; without it, jobs of the service count, too
 */
export async function waitingSessions(client: Pick<Client, "query">, statement = ""): Promise<number> {
  const { rows } = await client.query(
    `select count(*)::int as waiting from pg_stat_activity
     where datname = current_database() and wait_event_type = 'Lock' and strpos(query, $1) > 0`,
    [statement],
  );
  return rows[0].waiting;
}

/**
 * Lets the database refuse messages, as if its disk were full.
 * @param only which, as a condition of a trigger on `new`; all by default
 * @returns a function that makes room again
 */
export async function fillDisk(client: Pick<Client, "query">, only = "true"): Promise<() => Promise<void>> {
  await client.query(`
    create or replace function public.fill_disk() returns trigger language plpgsql as $$
    begin raise exception 'could not extend file "base/5/16384": No space left on device' using errcode = '53100'; end $$;
    create trigger no_room before insert on public.messages for each row when (${only}) execute function public.fill_disk()`);
  return async () => void (await client.query("drop trigger no_room on public.messages"));
}
