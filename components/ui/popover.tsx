"use client";

import { type ComponentProps, createContext, type ReactNode, use, useId } from "react";
import { Button } from "./button";
import { cn } from "./cn";

const PopoverId = createContext<string>("");

/**
 * A popover beside its button. It uses the native popover, which opens without a script and closes with Escape or a click
 * outside. CSS anchors it to its button; browsers without anchor positioning show it in the middle of the page.
 */
export function Popover({ children }: { children: ReactNode }) {
  return <PopoverId value={useId()}>{children}</PopoverId>;
}

/** The id of the popover around a component, and the CSS anchor name of its button. */
export function usePopover(): { id: string; anchor: `--${string}` } {
  const id = use(PopoverId);
  return { id, anchor: `--${id}` };
}

/** The button that opens and closes the popover. */
export function PopoverTrigger({ style, ...props }: ComponentProps<typeof Button>) {
  const { id, anchor } = usePopover();
  return <Button popoverTarget={id} style={{ anchorName: anchor, ...style }} {...props} />;
}

const places = {
  "bottom-start": "[position-area:bottom_span-right] my-1",
  "bottom-end": "[position-area:bottom_span-left] my-1",
  "top-start": "[position-area:top_span-right] my-1",
  "right-end": "[position-area:right_span-top] mx-1",
};

/** Classes of everything that opens beside a button. */
const popupClass =
  "fixed inset-auto m-0 max-h-[min(24rem,85dvh)] whitespace-normal text-left overflow-y-auto overscroll-contain rounded-lg border bg-popover text-popover-foreground shadow-lg transition-opacity duration-100 starting:open:opacity-0 [position-try-fallbacks:flip-block,flip-inline]";

/** The position of a popover relative to its button. */
type Place = keyof typeof places;

/** The content of a popover. */
export function PopoverContent({
  place = "bottom-start",
  className,
  style,
  ...props
}: ComponentProps<"div"> & { place?: Place }) {
  const { id, anchor } = usePopover();
  return (
    <div
      id={id}
      popover="auto"
      style={{ positionAnchor: anchor, ...style }}
      className={cn(popupClass, places[place], "w-72 max-w-[calc(100vw-2rem)] p-4 text-sm", className)}
      {...props}
    />
  );
}
