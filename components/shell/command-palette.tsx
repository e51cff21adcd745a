"use client";

import { lazy, Suspense, useEffect, useSyncExternalStore } from "react";
import { onDemand } from "@/components/connection/on-demand";
import { paletteState, setPalette } from "./palette-state";
import type { ShellWorkspace } from "./workspace-switcher";

const PaletteDialog = lazy(onDemand(() => import("./palette-dialog")));

/** Opens and closes the command palette on ⌘K and Ctrl-K. The dialog is loaded when it is first opened. */
export function CommandPalette(props: { current: ShellWorkspace; workspaces: ShellWorkspace[] }) {
  const isOpen = useSyncExternalStore(paletteState.subscribe, paletteState.read, paletteState.onServer);
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== "k" || !(event.metaKey || event.ctrlKey) || event.shiftKey) return;
      event.preventDefault();
      setPalette(!paletteState.read());
    };
    window.addEventListener("keydown", onKeyDown);
    return () => window.removeEventListener("keydown", onKeyDown);
  }, []);
  if (!isOpen) return null;
  return (
    <Suspense>
      <PaletteDialog {...props} />
    </Suspense>
  );
}
