import { useEffect, useState } from "react";
import { onDemand } from "@/components/connection/on-demand";
import type { VirtualRows } from "./virtual-rows";

const loadRows = onDemand(() => import("./virtual-rows"));

type Component = typeof VirtualRows;

/** The component that renders the rows of a long list, loaded when there is one; undefined before. */
export function useVirtualRows(isLong: boolean): Component | undefined {
  const [component, setComponent] = useState<Component>();
  useEffect(() => {
    if (!isLong) return;
    let isWanted = true;
    loadRows().then((module) => {
      if (isWanted) setComponent(() => module.VirtualRows);
    });
    return () => {
      isWanted = false;
    };
  }, [isLong]);
  return component;
}
