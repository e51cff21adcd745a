import { ServiceError } from "@/lib/errors";
import type { GivenUp } from "./watch";

/** Why the database could not be used: it reported an error, or did not answer. */
export type Outage = GivenUp | "unreachable" | "unstorable" | "migrated";

const descriptions: Record<Outage, string> = {
  unreachable: "The database cannot be reached at the moment.",
  silent: "The database does not answer at the moment.",
  slow: "The database took too long over this.",
  unstorable: "Nothing can be stored at the moment: the database's disk is full, or it is read-only.",
  migrated: "This process is of another version than its database: an upgrade is under way.",
};

/**
 * SQLSTATEs for unknown columns, tables, functions, types and schemas. Tests describe every statement on the schema of this version, so
 * these mean that the database has the schema of another version.
 */
const missingNames = ["42703", "42P01", "42883", "42704", "3F000"];

/**
 * The 503 for a call that the database did not answer. It is unknown whether a writing call took effect, because its commit may have
 * arrived.
 */
export function unavailable(reason: Outage, isReading: boolean, cause?: unknown): ServiceError {
  const retry = isReading
    ? "Try again shortly."
    : "Try again shortly; with an idempotency_key, a retry is never counted twice.";
  const error = new ServiceError(
    "unavailable",
    `${descriptions[reason]} ${retry}`,
    {},
    { "Retry-After": reason === "unstorable" || reason === "migrated" ? "5" : "1" },
  );
  error.cause = cause ?? new Error(descriptions[reason]);
  return error;
}

/**
 * Converts an error of the database to `unavailable`; undefined for other kinds of error.
 * @param call.givenUp why the service gave up the call, if it did; the error is then only a consequence
 * @param call.isReading whether its transaction was read-only: a write in it is a bug, not an outage
 */
export function asOutage(
  error: unknown,
  { givenUp, isReading }: { givenUp: GivenUp | undefined; isReading: boolean },
): ServiceError | undefined {
  if (givenUp) return error instanceof ServiceError ? error : unavailable(givenUp, isReading, error);
  const code = sqlState(error);
  if (isStorageFailure(code) && !(isReading && code === "25006")) {
    lastFailure = { code, atMs: performance.now() };
    return unavailable("unstorable", isReading, error);
  }
  if (missingNames.includes(code)) return unavailable("migrated", isReading, error);
  // A statement exceeded its time limit (57014) or a lock timeout (55P03).
  if (code === "57014" || code === "55P03") return unavailable("slow", isReading, error);
  // The connection or the server went away, or the server has no free connection: classes 08, 57P and 53, or a socket
  // error.
  if (/^(08|57P|53)/.test(code) || /^E[A-Z_]+$/.test(code))
    return unavailable("unreachable", isReading, error);
  // pg's errors without a code: for a query whose connection was lost, and for a later one.
  const isLost = error instanceof Error && /^Connection terminated|is not queryable$/.test(error.message);
  return isLost ? unavailable("unreachable", isReading, error) : undefined;
}

/** The SQLSTATE (or Node error code) of an error, or an empty string. */
export function sqlState(error: unknown): string {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return typeof code === "string" ? code : "";
}

/**
 * Whether a SQLSTATE says that nothing can be stored: a full disk, a disk error, or a read-only database (a standby,
 * or a host's reaction to a nearly full disk).
 */
export function isStorageFailure(code: string): boolean {
  return ["53100", "58030", "25006"].includes(code);
}

/** How long a failed write counts as the present state. */
const failureLifetimeMs = 30_000;

let lastFailure: { code: string; atMs: number } | undefined;

/** Forgets an earlier failure of a write, after one that succeeded. */
export function clearWriteFailure(): void {
  lastFailure = undefined;
}

/** Whether this process's last write failed within the last half minute because it could not be stored. */
export function lastWriteFailed(): boolean {
  return lastFailure !== undefined && performance.now() - lastFailure.atMs < failureLifetimeMs;
}
