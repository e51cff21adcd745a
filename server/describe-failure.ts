/** Errors whose messages are written for users. */
const written = [
  "Error",
  "AlreadyRunningError",
  "EnvError",
  "MigrationError",
  "NewerDatabaseError",
  "ChangedHistoryError",
];

/** The text of an error of the start for users. The stack is added to errors that are not our own. */
export function describeFailure(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if ("code" in error && error.code === "EADDRINUSE") {
    return `Port ${"port" in error ? error.port : ""} is taken by another program. Set PORT to another one.`;
  }
  return written.includes(error.name) ? error.message : (error.stack ?? error.message);
}
