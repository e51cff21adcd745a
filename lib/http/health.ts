import { DatabaseError } from "pg";
import type { z } from "zod";
import type { health } from "@/lib/contract/spend/reads";
import { isStorageFailure, lastWriteFailed } from "@/lib/db/outage";
import { askDatabase } from "@/lib/db/pool";
import { checkReplica } from "@/lib/db/replica";
import { ServiceError } from "@/lib/errors";
import packageJson from "@/package.json";

type Health = z.output<typeof health>;

/**
 * Sorts more rows than fit into memory, so that the database writes to its disk; this fails when the disk is full. It
 * writes no row and no WAL, so frequent checks cost little.
 */
const spill = `
  begin;
  set local work_mem = '64kB';
  set local statement_timeout = '1s';
  select count(*), pg_is_in_recovery() or current_setting('transaction_read_only')::boolean as is_read_only
  from (select row_number() over (order by md5(n::text)) from generate_series(1, 2000) as n) as spilled;
  rollback`;

/**
 * Checks whether the service can work: its database answers and accepts writes. Takes at most four seconds; never throws.
 */
export async function checkHealth(): Promise<Health> {
  const checks = await latestCheck();
  const isWell = checks.database_readable === "ok" && checks.database_writable === "ok";
  return { status: isWell ? "ok" : "failing", version: packageJson.version, checks };
}

/** Like `checkHealth`, for monitoring. @throws ServiceError unavailable with `status`, `version` and `checks` */
export async function requireHealth(): Promise<Health> {
  const report = await checkHealth();
  if (report.status === "ok") return report;
  const problem =
    report.checks.database_readable === "ok"
      ? "The database answers, but nothing can be stored in it: its disk is full, or it is read-only."
      : "The database does not answer.";
  throw new ServiceError("unavailable", problem, report, { "Retry-After": "5" });
}

let latest: { checks: Promise<Health["checks"]>; atMs: number } | undefined;

/** The latest check. The database is checked once a second at most. */
function latestCheck(): Promise<Health["checks"]> {
  const now = performance.now();
  if (!latest || now - latest.atMs > 1_000) latest = { checks: checkServers(), atMs: now };
  return latest.checks;
}

/** Checks the database and its replica, without which the service works, too. */
async function checkServers(): Promise<Health["checks"]> {
  const checks = await checkDatabase();
  if (checks.database_readable !== "ok") return checks;
  const replica = await checkReplica();
  return replica === undefined ? checks : { ...checks, replica };
}

/** Checks the database. Never throws: a missing database configuration counts as a failure. */
async function checkDatabase(): Promise<Health["checks"]> {
  try {
    const answer: unknown = await askDatabase(spill);
    if (answer instanceof DatabaseError) return judge(answer.code ?? "");
    const results = answer as { rows: { is_read_only?: boolean }[] }[];
    const isReadOnly = results.some(({ rows }) => rows[0]?.is_read_only);
    return { database_readable: "ok", database_writable: isReadOnly || lastWriteFailed() ? "failing" : "ok" };
  } catch {
    return { database_readable: "failing", database_writable: "failing" };
  }
}

/**
 * Evaluates an error that the database sent. An error which says that the database cannot be used now does not count as
 * an answer.
 */
function judge(code: string): Health["checks"] {
  if (/^(57P|08|53300|28)/.test(code)) return { database_readable: "failing", database_writable: "failing" };
  const isFailing = isStorageFailure(code) || lastWriteFailed();
  return { database_readable: "ok", database_writable: isFailing ? "failing" : "ok" };
}
