"use client";

import { type RefObject, useEffect, useRef, useState } from "react";

/**
 * Tells whether a details element or a popover was ever open, so that its content is rendered only when it is needed. The
 * browser can open it before React runs.
 * @returns `element`, the ref of the details or popover; `wasOpened`; and `open`, to be called when it opens
 */
export function useOpened<Opening extends HTMLElement>(): {
  element: RefObject<Opening | null>;
  wasOpened: boolean;
  open: () => void;
} {
  const element = useRef<Opening>(null);
  const [wasOpened, setOpened] = useState(false);
  useEffect(() => {
    if (element.current?.matches("[open], :popover-open")) setOpened(true);
  }, []);
  return { element, wasOpened, open: () => setOpened(true) };
}
