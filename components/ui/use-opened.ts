"use client";

import { type RefObject, useEffect, useRef, useState } from "react";

/**
 * Whether something that unfolds or pops up ever did: what nobody looks at need not be made. The browser opens it
 * without waiting for React, so it may be open from the start.
 * @returns `element` to give to the details or popover as its ref, and `open` to call when it opens
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
