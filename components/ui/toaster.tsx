"use client";

import { CircleAlert, CircleCheck, X } from "lucide-react";
import { useEffect, useRef, useSyncExternalStore } from "react";
import { Button } from "./button";

type Toast = { id: number; text: string; isProblem: boolean; action?: { label: string; run: () => void } };

const shownForMs = 5_000;
let toasts: Toast[] = [];
let lastId = 0;
const listeners = new Set<() => void>();
const none: Toast[] = [];

function change(next: Toast[]): void {
  toasts = next;
  for (const listener of listeners) listener();
}

const dismiss = (id: number) => change(toasts.filter((toast) => toast.id !== id));

/** Shows a notice of success for 5 seconds. @param action an optional button, such as "Undo" */
export function toast(text: string, action?: Toast["action"]): void {
  change([...toasts.slice(-2), { id: ++lastId, text, isProblem: false, ...(action && { action }) }]);
}

/** Shows a notice of a failure. It stays until the user closes it. */
export function toastProblem(text: string): void {
  change([...toasts.slice(-2), { id: ++lastId, text, isProblem: true }]);
}

const subscribe = (listener: () => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

/** The place where notices appear, above open dialogs. It is rendered once, by the shell. */
export function Toaster() {
  const shown = useSyncExternalStore(
    subscribe,
    () => toasts,
    () => none,
  );
  const region = useRef<HTMLElement>(null);
  useEffect(() => {
    const element = region.current;
    if (!element || shown.length === 0) return;
    // The element that opened last is on top, so it is opened again to be above a dialog that was opened since.
    if (element.matches(":popover-open")) element.hidePopover();
    element.showPopover();
  }, [shown]);
  return (
    <section
      ref={region}
      popover="manual"
      aria-label="Notices"
      className="fixed inset-auto right-4 bottom-4 m-0 w-88 max-w-[calc(100vw-2rem)] gap-2 overflow-visible bg-transparent p-0 open:grid"
    >
      <div aria-live="polite" className="grid gap-2">
        {shown.map((item) => (
          <Item key={item.id} toast={item} />
        ))}
      </div>
    </section>
  );
}

function Item({ toast: { id, text, isProblem, action } }: { toast: Toast }) {
  useEffect(() => {
    if (isProblem) return;
    const timer = setTimeout(() => dismiss(id), shownForMs);
    return () => clearTimeout(timer);
  }, [id, isProblem]);
  const Icon = isProblem ? CircleAlert : CircleCheck;
  return (
    <div className="flex items-start gap-2.5 rounded-lg border bg-popover py-2.5 pr-1.5 pl-3.5 text-popover-foreground text-sm shadow-lg transition-[opacity,translate] duration-120 starting:translate-y-2 starting:opacity-0">
      <Icon
        aria-hidden="true"
        className={`mt-0.5 size-4 shrink-0 ${isProblem ? "text-destructive" : "text-success"}`}
      />
      <p className="min-w-0 flex-1 py-px">{text}</p>
      {action ? (
        <Button
          variant="ghost"
          size="sm"
          className="h-6"
          onClick={() => {
            dismiss(id);
            action.run();
          }}
        >
          {action.label}
        </Button>
      ) : null}
      <Button
        variant="ghost"
        size="icon"
        aria-label="Close"
        className="size-6 text-muted-foreground"
        onClick={() => dismiss(id)}
      >
        <X aria-hidden="true" />
      </Button>
    </div>
  );
}
