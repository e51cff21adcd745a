import { randomUUID } from "node:crypto";
import { callAsService } from "@/lib/db/transaction";
import { ServiceError } from "@/lib/errors";

/** How long a killed process's export still counts as under way, and how often a living one says that it is. */
const leaseSeconds = 30;
const renewEveryMs = 10_000;

/** How long an export may take in all. Whoever reads slowly must not be sent to for ever. */
const maxExportMs = 3_600_000;

/** When to try again: how long the other export still takes, nobody can say. */
const retryAfterSeconds = 10;

/** A user's one export at a time, over all processes of the service. */
export class RunningExport {
  readonly #id = randomUUID();
  readonly #beganMs = performance.now();
  #renewedMs = performance.now();
  #ended: Promise<void> | undefined;

  private constructor(private readonly userId: string) {}

  /** Begins one. `end` must follow. @throws ServiceError export_in_progress while another one is under way */
  static async begin(userId: string): Promise<RunningExport> {
    const running = new RunningExport(userId);
    if (!(await running.#hold())) throw inProgress();
    return running;
  }

  /** @throws ServiceError export_in_progress where one could not begin now */
  static async demandNone(userId: string): Promise<void> {
    if (await callAsService<boolean>("private.has_running_export", userId)) throw inProgress();
  }

  /** Says from time to time that the export goes on. @throws where it has taken too long, or another one took its place */
  async goOn(): Promise<void> {
    const now = performance.now();
    if (now - this.#beganMs > maxExportMs) throw new Error("An export took longer than an hour.");
    if (now - this.#renewedMs < renewEveryMs) return;
    if (!(await this.#hold())) throw inProgress();
    this.#renewedMs = now;
  }

  /** Lets the user begin another. Never throws: where the database is away, the lease ends by itself. */
  end(): Promise<void> {
    this.#ended ??= callAsService("private.end_export", this.userId, this.#id).then(
      () => {},
      () => {},
    );
    return this.#ended;
  }

  #hold(): Promise<boolean> {
    return callAsService("private.hold_export", this.userId, this.#id, leaseSeconds);
  }
}

function inProgress(): ServiceError {
  return new ServiceError(
    "export_in_progress",
    "One of your exports is still being sent. Each user may have one at a time: try again when it is done.",
    { retry_after_seconds: retryAfterSeconds },
    { "Retry-After": String(retryAfterSeconds) },
  );
}
