"use client";

import { CircleAlert, CircleCheck, X } from "lucide-react";
import { useEffect, useState } from "react";
import { createPortal } from "react-dom";
import { Toaster as Sonner, toast as show } from "sonner";
import { buttonVariants } from "./button";
import { onModalClose, topModal } from "./modal-dialogs";
import type { Toast } from "./toast";

const shownForMs = 5_000;
/** Long enough to read what was deleted, and to reach the button by keyboard. */
const shownWithActionForMs = 10_000;

const classNames = {
  toast:
    "flex w-(--width) items-start gap-2.5 rounded-lg border bg-popover py-2.5 pr-1.5 pl-3.5 text-popover-foreground text-sm shadow-lg data-[expanded=false]:data-[front=false]:*:opacity-0",
  content: "min-w-0 flex-1 py-px",
  icon: "mt-0.5",
  actionButton: buttonVariants({ variant: "outline", size: "sm", className: "h-7" }),
  closeButton:
    "order-last grid size-7 shrink-0 place-items-center rounded-md text-muted-foreground hover:bg-accent",
};

/** The element of the notices, a popover: the element opened last is on top. */
function newRegion(): HTMLElement {
  const region = document.createElement("div");
  region.popover = "manual";
  region.className = "fixed inset-auto m-0 size-0 overflow-visible border-0 bg-transparent p-0";
  return region;
}

/**
 * Moves notices into the dialog on top, because nothing outside of it can be clicked or focused, and above all that is open. A dialog that
 * opens later covers them.
 */
function place(region: HTMLElement): void {
  (topModal() ?? document.body).append(region);
  region.showPopover();
}

/** Shows the waiting notices in order. Alt-T moves the focus to them. */
export function Toasts({ waiting, take }: { waiting: Toast[]; take: () => Toast[] }) {
  const [element] = useState(newRegion);
  useEffect(() => {
    const stop = onModalClose(() => place(element));
    return () => {
      stop();
      element.remove();
    };
  }, [element]);
  useEffect(() => {
    if (waiting.length === 0) return;
    place(element);
    // A used button disappears with its notice. Removing the focus from it makes Sonner return the focus to where it was now.
    // Otherwise Sonner would do so when the last notice disappears, and take the focus from an element such as an open menu.
    const leave = () => {
      const active = document.activeElement;
      if (active instanceof HTMLElement && element.contains(active)) active.blur();
    };
    for (const { text, isProblem, action } of take()) {
      const duration = action ? shownWithActionForMs : shownForMs;
      (isProblem ? show.error : show.success)(text, {
        duration: isProblem ? Number.POSITIVE_INFINITY : duration,
        onDismiss: leave,
        ...(action && {
          action: {
            label: action.label,
            onClick: () => {
              leave();
              action.run();
            },
          },
        }),
      });
    }
  }, [element, waiting, take]);
  return createPortal(
    <Sonner
      customAriaLabel="Notices"
      position="bottom-right"
      offset={16}
      mobileOffset={16}
      closeButton
      style={{ fontFamily: "inherit" }}
      toastOptions={{ unstyled: true, classNames, closeButtonAriaLabel: "Close" }}
      icons={{
        success: <CircleCheck aria-hidden="true" className="size-4 text-success" />,
        error: <CircleAlert aria-hidden="true" className="size-4 text-destructive" />,
        close: <X aria-hidden="true" className="size-4" />,
      }}
    />,
    element,
  );
}
