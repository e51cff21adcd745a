import { overloaded, ServiceError } from "@/lib/errors";

const disconnected = () => new ServiceError("unavailable", "The caller has disconnected.");

/** A decoded body with more bytes is large: it waits for a turn, and is decoded off the main thread if possible. */
export const largeBytes = 256 * 1024;

/**
 * Shares the work on large bodies fairly: workspaces take turns with one body each, however many bodies a workspace sends.
 */
export class Turns {
  /** The waiting calls by workspace. The workspace with the next turn is first. */
  readonly #waiting = new Map<string, (() => void)[]>();
  readonly #working = new Set<string>();
  #waitingCount = 0;

  /** @param limits how many bodies are worked on at once, and how many may wait: of one workspace and in all */
  constructor(private readonly limits: { atOnce: number; ofOne: number; inAll: number }) {}

  /**
   * Resolves when it is the workspace's turn.
   * @param signal of the request: if it aborts while the call waits, the call gives up its place
   * @returns a function that ends the turn
   * @throws ServiceError unavailable if too many are waiting, or if the signal aborts (then nobody reads the answer)
   */
  async take(workspaceId: string, signal?: AbortSignal): Promise<() => void> {
    if (signal?.aborted) throw disconnected();
    const own = this.#waiting.get(workspaceId) ?? [];
    if (own.length >= this.limits.ofOne || this.#waitingCount >= this.limits.inAll) throw overloaded();
    await new Promise<void>((resolve, reject) => {
      const giveUp = () => {
        this.#remove(workspaceId, begin);
        reject(disconnected());
      };
      const begin = () => {
        signal?.removeEventListener("abort", giveUp);
        resolve();
      };
      signal?.addEventListener("abort", giveUp, { once: true });
      own.push(begin);
      this.#waitingCount += 1;
      this.#waiting.set(workspaceId, own);
      this.#next();
    });
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      this.#working.delete(workspaceId);
      this.#moveBack(workspaceId);
      this.#next();
    };
  }

  #next(): void {
    for (const [workspaceId, own] of this.#waiting) {
      if (this.#working.size >= this.limits.atOnce) return;
      if (this.#working.has(workspaceId)) continue;
      const begin = own.shift();
      if (own.length === 0) this.#waiting.delete(workspaceId);
      if (!begin) continue;
      this.#waitingCount -= 1;
      this.#working.add(workspaceId);
      begin();
    }
  }

  #remove(workspaceId: string, begin: () => void): void {
    const own = this.#waiting.get(workspaceId);
    const place = own?.indexOf(begin) ?? -1;
    if (!own || place < 0) return;
    own.splice(place, 1);
    this.#waitingCount -= 1;
    if (own.length === 0) this.#waiting.delete(workspaceId);
  }

  /** Moves a workspace whose turn has ended behind all others. */
  #moveBack(workspaceId: string): void {
    const own = this.#waiting.get(workspaceId);
    if (!own) return;
    this.#waiting.delete(workspaceId);
    this.#waiting.set(workspaceId, own);
  }
}

/** The turns of this process for reading large bodies. The limits bound the bodies that wait in memory. */
export const turns = new Turns({ atOnce: 4, ofOne: 8, inAll: 32 });

/** The turns for recording the contents of large bodies. A call waits for one while it still holds one of `turns`. */
const recordings = new Turns({ atOnce: 4, ofOne: 1, inAll: 4 });

/** The turn of one request. A request without a large body takes none. */
export class Turn {
  #end: (() => void) | undefined;

  constructor(private readonly request: Request) {}

  /** Takes the turn. @throws ServiceError unavailable if too many are waiting, or the caller has disconnected */
  async take(workspaceId: string): Promise<void> {
    this.#end ??= await turns.take(workspaceId, this.request.signal);
  }

  /**
   * Exchanges the turn, if one was taken, for a turn to record the body's contents, so that the workspace's next body can be read
   * and decoded meanwhile. @throws ServiceError unavailable if the caller has disconnected
   */
  async record(workspaceId: string): Promise<void> {
    const end = this.#end;
    if (!end) return;
    this.#end = await recordings.take(workspaceId, this.request.signal);
    end();
  }

  end(): void {
    this.#end?.();
  }
}
