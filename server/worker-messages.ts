import type { DatabaseUrls } from "@/lib/db/pool";

/** What the supervisor sends to a worker: the database to serve, and later the request to stop. */
export type ToWorker = { type: "serve"; database: DatabaseUrls } | { type: "stop" };

/**
 * What a worker sends to the supervisor: that it listens to messages, because Node loses earlier ones; the address at which
 * it serves; or why it cannot.
 */
export type FromWorker =
  | { type: "listening" }
  | { type: "serving"; address: string }
  | { type: "failed"; reason: string };
