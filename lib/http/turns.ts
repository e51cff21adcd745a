import { overloaded, ServiceError } from "@/lib/errors";

const disconnected = () => new ServiceError("unavailable", "The caller has disconnected.");

/** A body of more bytes, without its Content-Encoding, is large: it takes a turn, and is decoded off the main thread where it can be. */
export const largeBytes = 256 * 1024;

/**
 * Shares the work on large bodies among workspaces: one body of a workspace at a time, and workspaces in turn, however many
 * bodies each of them sends.
 */
export class Turns {
  /** What waits, by workspace: the one whose turn comes next is first. */
  readonly #waiting = new Map<string, (() => void)[]>();
  readonly #working = new Set<string>();
  #waitingCount = 0;

  /** @param limits how many bodies are worked on at once, and how many may wait: of one workspace and in all */
  constructor(private readonly limits: { atOnce: number; ofOne: number; inAll: number }) {}

  /**
   * Resolves when it is the workspace's turn.
   * @param signal of the request: aborted while it waits, it gives its place up
   * @returns a function that ends the turn
   * @throws ServiceError unavailable where too many wait, and where the signal is aborted: nobody reads that answer
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

  /** Has a workspace that had its turn wait behind all others. */
  #moveBack(workspaceId: string): void {
    const own = this.#waiting.get(workspaceId);
    if (!own) return;
    this.#waiting.delete(workspaceId);
    this.#waiting.set(workspaceId, own);
  }
}

/** Those of this process. What waits is in memory. */
export const turns = new Turns({ atOnce: 4, ofOne: 8, inAll: 32 });

/** Those to record what bodies had. Who waits for one has one of `turns`. */
const recordings = new Turns({ atOnce: 4, ofOne: 1, inAll: 4 });

/** The turn that one request takes at most. */
export class Turn {
  #end: (() => void) | undefined;

  constructor(private readonly request: Request) {}

  /** Takes it. @throws ServiceError unavailable where too many wait, and where the caller has disconnected */
  async take(workspaceId: string): Promise<void> {
    this.#end ??= await turns.take(workspaceId, this.request.signal);
  }

  /**
   * Changes a turn that was taken for one to record what the body had, so that the workspace's next body is read and decoded
   * meanwhile. @throws ServiceError unavailable where the caller has disconnected
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
