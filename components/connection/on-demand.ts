import { whenReachable } from "./service";

/**
 * Makes code that is loaded on demand wait for a service that is away:
 * `dynamic(onDemand(() => import("./invite-dialog")))`. Without it a click replaces the page by an error.
 * @throws the error of the second attempt where the service answers, as after an upgrade, when the file is gone
 */
export function onDemand<Module>(load: () => Promise<Module>): () => Promise<Module> {
  return async () => {
    try {
      return await load();
    } catch {
      await whenReachable();
      return load();
    }
  };
}
