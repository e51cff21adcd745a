/** What can be drained when the process ends or the page is hidden. */
type Drainable = {
  drain(): Promise<unknown>;
  hide(isHidden: boolean): void;
};

/** The parts of Node's `process` and of a page's globals that are used where they exist. */
type Surroundings = {
  process?: {
    pid?: number;
    on?(event: string, listener: () => void): unknown;
    off?(event: string, listener: () => void): unknown;
    listenerCount?(event: string): number;
    kill?(pid: number, signal: string): unknown;
  };
  document?: { visibilityState: string; addEventListener(event: string, listener: () => void): void };
  addEventListener?(event: string, listener: () => void): void;
};

const surroundings = globalThis as unknown as Surroundings;

/** The clients that have messages. Only they are kept from being collected. */
const waiting = new Set<Drainable>();
let isListening = false;

/** Drains a client when the process has nothing else to do, or its page is hidden, until `forget`. */
export function remember(client: Drainable): void {
  waiting.add(client);
  if (isListening) return;
  isListening = true;
  const { process, document } = surroundings;
  // Node emits this again after work that a listener began; a drained client is not waiting any more.
  process?.on?.("beforeExit", () => {
    for (const each of waiting) void each.drain();
  });
  if (!document) return;
  const hide = () => {
    for (const each of waiting) each.hide(document.visibilityState === "hidden");
  };
  document.addEventListener("visibilitychange", hide);
  surroundings.addEventListener?.("pagehide", () => {
    for (const each of waiting) each.hide(true);
  });
}

/** Stops what `remember` began. */
export function forget(client: Drainable): void {
  waiting.delete(client);
}

/**
 * Drains a client on signals, then lets the signal do what it does without us: where nobody else listens for it, it ends
 * the process. @returns a function that stops this
 */
export function drainOnSignals(signals: readonly string[], drain: () => Promise<unknown>): () => void {
  const { process } = surroundings;
  if (!process?.on || signals.length === 0) return () => {};
  const listeners = signals.map((signal) => {
    const listener = () => {
      void drain().then(() => {
        process.off?.(signal, listener);
        if (process.listenerCount?.(signal) === 0) process.kill?.(process.pid ?? 0, signal);
      });
    };
    process.on?.(signal, listener);
    return [signal, listener] as const;
  });
  return () => {
    for (const [signal, listener] of listeners) process.off?.(signal, listener);
  };
}
