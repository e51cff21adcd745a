import type { DatabaseUrls } from "@/lib/db/pool";

/** What the supervisor sends to a worker: the database to serve with the secrets of its data folder, and later the request to stop. */
export type ToWorker =
  | {
      type: "serve";
      database: DatabaseUrls;
      operatorToken: string | undefined;
      sealingKey: string | undefined;
    }
  | { type: "stop" };

/**
 * What a worker sends to the supervisor: that it listens to messages, because Node loses earlier ones; that its event loop
 * turns, about once in `aliveEveryMs`; the address at which it serves; or why it cannot.
 */
export type FromWorker =
  | { type: "listening" }
  | { type: "alive" }
  | { type: "serving"; address: string }
  | { type: "failed"; reason: string };

/** How often a worker says that its event loop turns. */
export const aliveEveryMs = 500;
