// In place of `node:timers/promises` in a simulated process: its timers are the simulation's.
import { host } from "./host";

export { setImmediate } from "node:timers/promises";
export const setTimeout = <T>(ms: number, value?: T, options?: { signal?: AbortSignal }): Promise<T> =>
  new Promise((resolve, reject) => {
    const timer = host.setTimeout(() => resolve(value as T), ms);
    options?.signal?.addEventListener("abort", () => {
      host.clearTimeout(timer);
      reject(options.signal?.reason);
    });
  });
