import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "@/tests/helpers/free-port";
import { asUser, quote, type Running, shell, start } from "./machine";

const programs = "/usr/lib/postgresql/15/bin";
export const superuserPassword = "walk-superuser";

/** A Postgres of Debian's package, of the user `postgres`. */
export type Postgres = {
  port: number;
  folder: string;
  server: Running;
  /** The address of its superuser for a database. */
  url(database: string): string;
  /** Runs SQL as its superuser, statement by statement. @returns the rows, unaligned */
  psql(sql: string, database?: string): string;
  remove(): Promise<void>;
};

/** Starts an empty cluster. */
export function emptyPostgres(): Promise<Postgres> {
  return postgresOf((data) => {
    const secret = quote(superuserPassword);
    return `${programs}/initdb -D ${data} -U postgres -A scram-sha-256 --pwfile=<(echo ${secret}) -E UTF8 >/dev/null && printf 'host replication all 127.0.0.1/32 scram-sha-256\\n' >> ${data}/pg_hba.conf`;
  });
}

/** Starts a streaming replica of a cluster. */
export function replicaOf(primary: Postgres): Promise<Postgres> {
  return postgresOf(
    (data) =>
      `PGPASSWORD=${superuserPassword} ${programs}/pg_basebackup --host 127.0.0.1 --port ${primary.port} --username postgres --pgdata ${data} --write-recovery-conf --checkpoint fast && echo 'hot_standby_feedback = on' >> ${data}/postgresql.auto.conf`,
  );
}

async function postgresOf(make: (data: string) => string): Promise<Postgres> {
  const folder = mkdtempSync(join(tmpdir(), "outlay-walk-"));
  chmodSync(folder, 0o755);
  shell(`chown postgres ${folder}`);
  const data = join(folder, "data");
  shell(asUser("postgres", {}, `bash -c ${quote(make(data))}`), { cwd: folder });
  const port = await freePort();
  const server = start(
    asUser("postgres", {}, `${programs}/postgres -D ${data} -p ${port} -k ${folder}`),
    join(folder, "postgres.log"),
    folder,
  );
  shell(`until ${programs}/pg_isready -q -h 127.0.0.1 -p ${port}; do sleep 0.2; done`);
  const url = (database: string) => `postgres://postgres:${superuserPassword}@127.0.0.1:${port}/${database}`;
  return {
    port,
    folder,
    server,
    url,
    psql: (sql, database = "postgres") =>
      shell(`psql ${quote(url(database))} -X -q -A -t -v ON_ERROR_STOP=1 <<'SQL'\n${sql}\nSQL`),
    async remove() {
      // At once, whoever is still connected.
      await server.stop("SIGINT");
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
