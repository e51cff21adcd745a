"use client";

import type { ReactNode } from "react";
import { useOpened } from "./use-opened";

/** Content that is folded away behind a summary. It is rendered when it is first unfolded. */
export function Disclosure({
  summary,
  className,
  summaryClassName,
  children,
}: {
  summary: ReactNode;
  className?: string;
  summaryClassName?: string;
  children: () => ReactNode;
}) {
  const { element, wasOpened, open } = useOpened<HTMLDetailsElement>();
  return (
    <details ref={element} onToggle={open} className={className}>
      <summary className={summaryClassName}>{summary}</summary>
      {wasOpened ? children() : null}
    </details>
  );
}
