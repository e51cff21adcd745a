import { randomUUID } from "node:crypto";
import { callAsService } from "@/lib/db/transaction";
import { ServiceError } from "@/lib/errors";

/** How long an export of a killed process still counts as running. A running export renews its lease every `renewEveryMs`. */
const leaseSeconds = 30;
const renewEveryMs = 10_000;

/** The longest that an export may take, so that a slow reader cannot keep it open forever. */
const maxExportMs = 3_600_000;

/** The `Retry-After` of a refused export. How long the other one still takes is not known. */
const retryAfterSeconds = 10;

/** A lease that lets each user run one export at a time, across all processes of the service. */
export class RunningExport {
  readonly #id = randomUUID();
  readonly #beganMs = performance.now();
  #renewedMs = performance.now();
  #ended: Promise<void> | undefined;

  private constructor(private readonly userId: string) {}

  /** Begins an export. The caller must call `end`. @throws ServiceError export_in_progress while another one is running */
  static async begin(userId: string): Promise<RunningExport> {
    const running = new RunningExport(userId);
    if (!(await running.#hold())) throw inProgress();
    return running;
  }

  /** @throws ServiceError export_in_progress if the user has a running export */
  static async demandNone(userId: string): Promise<void> {
    if (await callAsService<boolean>("private.has_running_export", userId)) throw inProgress();
  }

  /** Renews the lease if that is due. @throws Error if the export took too long; ServiceError if another one took its place */
  async goOn(): Promise<void> {
    const now = performance.now();
    if (now - this.#beganMs > maxExportMs) throw new Error("An export took longer than an hour.");
    if (now - this.#renewedMs < renewEveryMs) return;
    if (!(await this.#hold())) throw inProgress();
    this.#renewedMs = now;
  }

  /** Lets the user begin another export. Never throws: if the database is unavailable, the lease expires. */
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
