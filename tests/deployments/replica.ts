import { projectRoot } from "@/tests/helpers/project-root";
import { blocksOf } from "./document";
import { healthy, seen, shell } from "./machine";
import { beginAt, call, preparePostgres, recordCent, spentAt, startOutlay } from "./outlay";
import { replicaOf } from "./postgres";

/** "A replica for reads": by Postgres's streaming replication, and a failover. */
export async function replica(): Promise<void> {
  if (blocksOf("A replica for reads").length > 0)
    throw new Error("The section has commands that nothing runs.");
  const { postgres, settings } = await preparePostgres();
  let standby: Awaited<ReturnType<typeof replicaOf>> | undefined;
  try {
    // The schema is there before the replica.
    shell("npm run migrate", { cwd: projectRoot, env: settings });
    standby = await replicaOf(postgres);
    const readUrl = settings.POSTGRES_URL?.replace(`:${postgres.port}/`, `:${standby.port}/`) ?? "";
    const outlay = await startOutlay({ ...settings, POSTGRES_READ_URL: readUrl });
    const checks = async () => (await healthy(outlay.address, outlay.program)).checks.replica;
    const until = async (state: string) => {
      const limit = Date.now() + 60_000;
      while (JSON.stringify(await checks()) !== JSON.stringify(state) && Date.now() < limit);
      return checks();
    };
    const { key, slug, token } = await beginAt(outlay);
    for (let count = 0; count < 20; count += 1) {
      await recordCent(outlay, key);
      const { totals } = await call<{ totals: { total_usd: number } }>(
        outlay,
        `/api/v1/workspaces/${slug}/metrics`,
        token,
      );
      if (totals.total_usd !== (count + 1) / 100)
        throw new Error(`A read missed a cost: ${totals.total_usd}`);
    }
    seen("twenty reads straight after twenty costs see each of them", true);
    const ok = await until("ok");
    seen("/api/health says that the replica is ok", ok === "ok", ok);
    standby.psql("select pg_wal_replay_pause()");
    await recordCent(outlay, key);
    const spent = await call<{ totals: { total_usd: number } }>(
      outlay,
      `/api/v1/workspaces/${slug}/metrics`,
      token,
    );
    seen("with replay paused the primary answers", spent.totals.total_usd === 0.21, spent.totals.total_usd);
    standby.psql("select pg_wal_replay_resume()");
    await until("ok");
    await outlay.program.stop();

    // The primary is lost; the replica takes its place.
    await postgres.server.stop("SIGINT");
    standby.psql("select pg_promote()");
    const promoted = await startOutlay({
      ...settings,
      POSTGRES_URL: readUrl,
      POSTGRES_URL_NON_POOLING: standby.url("outlay"),
    });
    const after = await spentAt(promoted, key);
    seen("the promoted replica has every cost", after === 0.21, after);
    await recordCent(promoted, key);
    seen("and records", (await spentAt(promoted, key)) === 0.22);
    await promoted.program.stop();
  } finally {
    await standby?.remove();
    await postgres.remove();
  }
}
