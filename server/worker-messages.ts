import type { DatabaseUrls } from "@/lib/db/pool";

/** A message from the supervisor to a worker: the database to serve, with the secrets of its data folder, or the request to stop. */
export type ToWorker =
  | {
      type: "serve";
      database: DatabaseUrls;
      operatorToken: string | undefined;
      sealingKey: string | undefined;
    }
  | { type: "stop" };

/**
 * A message from a worker to the supervisor. `listening`: it receives messages now; Node would lose earlier ones. `alive`: its event loop
 * is not blocked; sent every `aliveEveryMs`. `serving`: it serves at an address. `failed`: it cannot serve.
 */
export type FromWorker =
  | { type: "listening" }
  | { type: "alive" }
  | { type: "serving"; address: string }
  | { type: "failed"; reason: string };

/** How often a worker sends `alive`. */
export const aliveEveryMs = 500;
