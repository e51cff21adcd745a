import { whenReachable } from "./service";

/**
 * Makes code that is loaded on demand wait while the service is unavailable:
 * `dynamic(onDemand(() => import("./invite-dialog")))`. Without it, a click would replace the page with an error.
 * @throws the error of the second attempt if the service answers, for example because an upgrade has removed the file
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
