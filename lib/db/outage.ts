import { ServiceError } from "@/lib/errors";
import type { GivenUp } from "./watch";

/** Why the database could not be asked: what its own answer says, or that none came. */
export type Outage = GivenUp | "unreachable" | "unstorable";

const descriptions: Record<Outage, string> = {
  unreachable: "The database cannot be reached at the moment.",
  silent: "The database does not answer at the moment.",
  slow: "The database took too long over this.",
  unstorable: "Nothing can be stored at the moment: the database's disk is full, or it takes no changes.",
};

/**
 * The 503 of a call that the database did not answer. Whether the call was carried out nobody can say: its commit may
 * have arrived.
 */
export function unavailable(reason: Outage, cause?: unknown): ServiceError {
  const error = new ServiceError(
    "unavailable",
    `${descriptions[reason]} Try again shortly; with an idempotency_key, a retry is never counted twice.`,
    {},
    { "Retry-After": reason === "unstorable" ? "5" : "1" },
  );
  error.cause = cause ?? new Error(descriptions[reason]);
  return error;
}

/**
 * The `unavailable` that an error of the database amounts to; undefined where it is another kind of error.
 * @param call.givenUp why the call was given up, where it was: its error is then our own doing
 * @param call.isReading whether its transaction was one that takes no changes: to change something in it is a mistake of
 *   ours, and no outage
 */
export function asOutage(
  error: unknown,
  { givenUp, isReading }: { givenUp: GivenUp | undefined; isReading: boolean },
): ServiceError | undefined {
  if (givenUp) return error instanceof ServiceError ? error : unavailable(givenUp, error);
  const code = sqlState(error);
  if (isStorageFailure(code) && !(isReading && code === "25006")) {
    lastFailure = { code, atMs: performance.now() };
    return unavailable("unstorable", error);
  }
  // A statement's own time limit (57014), or the wait for a lock (55P03).
  if (code === "57014" || code === "55P03") return unavailable("slow", error);
  // The connection or the server went away, or it has no room for another: classes 08, 57P and 53, or a socket's error.
  if (/^(08|57P|53)/.test(code) || /^E[A-Z_]+$/.test(code)) return unavailable("unreachable", error);
  // What pg says without a code: of a query the connection was lost under, and of one that came after.
  const isLost = error instanceof Error && /^Connection terminated|is not queryable$/.test(error.message);
  return isLost ? unavailable("unreachable", error) : undefined;
}

/** The SQLSTATE (or Node error code) of an error, or an empty string. */
export function sqlState(error: unknown): string {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return typeof code === "string" ? code : "";
}

/**
 * Whether a SQLSTATE says that nothing can be stored: a full disk, an error of the disk, or a database that only reads
 * (a standby; or a host's answer to a disk that is nearly full).
 */
export function isStorageFailure(code: string): boolean {
  return ["53100", "58030", "25006"].includes(code);
}

/** How long a write that could not be stored says something of the present. */
const tellingForMs = 30_000;

let lastFailure: { code: string; atMs: number } | undefined;

/** Notes that something was stored, which ends what an earlier failure said. */
export function noteStored(): void {
  lastFailure = undefined;
}

/** Whether this process's last write failed for want of a place to store it, within the last half minute. */
export function lastWriteFailed(): boolean {
  return lastFailure !== undefined && performance.now() - lastFailure.atMs < tellingForMs;
}
