"use client";

import { type ReactNode, useId, useRef } from "react";
import { popupClass } from "./popover";

const delayMs = 300;

/**
 * A few words about what the pointer or the keyboard is on. They explain and never are the only name of something:
 * fingers do not hover. What is inside must be able to take the focus itself.
 */
export function Tooltip({ text, children }: { text: string; children: ReactNode }) {
  const id = useId();
  const tip = useRef<HTMLSpanElement>(null);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const show = () => {
    timer.current = setTimeout(() => tip.current?.showPopover(), delayMs);
  };
  const hide = () => {
    clearTimeout(timer.current);
    tip.current?.hidePopover();
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: it only watches over what is inside.
    <span
      className="inline-flex"
      style={{ anchorName: `--${id}` }}
      aria-describedby={id}
      onPointerEnter={({ pointerType }) => pointerType === "mouse" && show()}
      onPointerLeave={hide}
      onFocus={show}
      onBlur={hide}
      onKeyDown={({ key }) => key === "Escape" && hide()}
    >
      {children}
      <span
        ref={tip}
        id={id}
        role="tooltip"
        popover="manual"
        style={{ positionAnchor: `--${id}` }}
        className={`${popupClass} my-1 max-w-64 px-2 py-1 text-xs [position-area:top]`}
      >
        {text}
      </span>
    </span>
  );
}
