"use client";

import { useEffect, useSyncExternalStore } from "react";
import type { Toast, ToastAction } from "./toast";
import { useLoaded } from "./use-loaded";

let toasts: Toast[] = [];
let lastId = 0;
const listeners = new Set<() => void>();
const none: Toast[] = [];

function change(next: Toast[]): void {
  toasts = next;
  for (const listener of listeners) listener();
}

function add(added: Omit<Toast, "id">): void {
  change([...toasts, { id: ++lastId, ...added }]);
}

/** Shows a notice of success for 5 seconds, one with a button for 10. @param action an optional button, such as "Undo" */
export function toast(text: string, action?: ToastAction): void {
  add({ text, isProblem: false, ...(action && { action }) });
}

/** Shows a notice of a failure. It stays until the user closes it. */
export function toastProblem(text: string): void {
  add({ text, isProblem: true });
}

const subscribe = (listener: () => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

/** Returns the notices that were not shown yet, and empties their queue. */
function take(): Toast[] {
  const taken = toasts;
  if (taken.length > 0) change([]);
  return taken;
}

/** How long notices are shown as plain text. */
const plainForMs = 10_000;

const loadToasts = () => import("./toasts");

/**
 * The place where notices appear, above open dialogs. The layout of a workspace renders it once. The component that shows notices is
 * loaded with the first one. If it cannot be loaded, for example without a connection, notices are shown as plain text.
 */
export function Toaster() {
  const waiting = useSyncExternalStore(
    subscribe,
    () => toasts,
    () => none,
  );
  const { module, hasFailed } = useLoaded(loadToasts, waiting.length > 0);
  if (module) return <module.Toasts waiting={waiting} take={take} />;
  return hasFailed && waiting.length > 0 ? <PlainNotices notices={waiting} /> : null;
}

/** Notices as plain text. They disappear together; the next notice tries to load the component again. */
function PlainNotices({ notices }: { notices: Toast[] }) {
  useEffect(() => {
    const timer = setTimeout(take, plainForMs);
    return () => clearTimeout(timer);
  }, []);
  return (
    <div
      role="status"
      className="fixed inset-x-4 bottom-4 z-50 grid gap-1 rounded-lg border bg-popover px-3.5 py-2.5 text-popover-foreground text-sm shadow-lg sm:left-auto sm:w-88"
    >
      {notices.map(({ id, text }) => (
        <p key={id}>{text}</p>
      ))}
    </div>
  );
}
