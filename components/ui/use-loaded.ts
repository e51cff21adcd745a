"use client";

import { useEffect, useState } from "react";
import { whenReachable } from "@/components/connection/service";

/**
 * Loads a module when it is first needed. Unlike `lazy`, it does not suspend, so that the content shown meanwhile keeps its
 * state and its focus, and a module that cannot be loaded does not break the page.
 * @param load imports the module: `() => import("./palette")`. It must not change between renders
 * @param isNeeded whether to load it now
 * @returns `module` once it is loaded; `hasFailed` while it cannot be loaded. A failed load is repeated as soon as the service answers,
 *   and if that fails, too, when the module is needed again
 */
export function useLoaded<Module>(
  load: () => Promise<Module>,
  isNeeded = true,
): { module?: Module; hasFailed: boolean } {
  const [state, setState] = useState<{ module?: Module; hasFailed: boolean }>({ hasFailed: false });
  useEffect(() => {
    if (!isNeeded) return;
    let isCurrent = true;
    const keep = (module: Module) => isCurrent && setState({ module, hasFailed: false });
    const fail = () => isCurrent && setState({ hasFailed: true });
    load()
      .catch(async () => {
        fail();
        await whenReachable();
        return load();
      })
      .then(keep, fail);
    return () => {
      isCurrent = false;
    };
  }, [isNeeded, load]);
  return state;
}
