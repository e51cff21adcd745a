"use client";

import { Search } from "lucide-react";
import { useEffect, useRef, useState, useSyncExternalStore } from "react";
import { Dialog, DialogContent, DialogTitle } from "@/components/ui/dialog";
import { useLoaded } from "@/components/ui/use-loaded";
import { fieldLabel, look } from "./palette-look";
import { paletteState, setPalette } from "./palette-state";
import type { ShellWorkspace } from "./workspace-switcher";

type Props = { current: ShellWorkspace; workspaces: ShellWorkspace[] };

const loadPalette = () => import("./palette");

/** Opens and closes the command palette on ⌘K and Ctrl-K. The palette's code is loaded when it is first opened. */
export function CommandPalette(props: Props) {
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
  return (
    <Dialog open={isOpen} onOpenChange={setPalette}>
      <DialogContent className="mt-0 rounded-t-none rounded-b-xl sm:mt-[12dvh] sm:rounded-xl [&>div>button:last-child]:hidden [&>div]:gap-0 [&>div]:p-0">
        <DialogTitle className="sr-only">Search</DialogTitle>
        <PaletteContent {...props} />
      </DialogContent>
    </Dialog>
  );
}

/** The palette, or a plain field until it is loaded. The palette takes over the typed text and a pressed Enter. */
function PaletteContent(props: Props) {
  const [text, setText] = useState("");
  const [isEntered, setEntered] = useState(false);
  const { module, hasFailed } = useLoaded(loadPalette);
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current?.focus(), []);
  const change = (next: string) => {
    setText(next);
    setEntered(false);
  };
  if (module) {
    return <module.Palette {...props} text={text} onTextChange={change} isEntered={isEntered} />;
  }
  return (
    <>
      <div className={look.line}>
        <Search aria-hidden="true" className="size-4 shrink-0 text-muted-foreground" />
        <input
          ref={field}
          aria-label={fieldLabel}
          placeholder={fieldLabel}
          autoComplete="off"
          value={text}
          onChange={({ currentTarget }) => change(currentTarget.value)}
          onKeyDown={({ key }) => key === "Enter" && setEntered(true)}
          className={look.field}
        />
      </div>
      <div className={look.list} />
      <p role="status" className="border-t px-4 py-2.5 text-muted-foreground text-sm">
        {hasFailed ? "Search could not be loaded. Close it, and open it again in a moment." : "Loading…"}
      </p>
    </>
  );
}
