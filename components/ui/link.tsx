"use client";

import NextLink from "next/link";
import { type ComponentProps, useState } from "react";

/**
 * A link to a page of the dashboard. It prefetches the frame of the page when it is hovered or focused. Next's own link does so
 * when it becomes visible: a page with a sidebar would send thirty requests, which delay the page's own scripts.
 * With `prefetch={false}`, nothing is loaded before the link is followed.
 */
export function Link({
  prefetch = null,
  onPointerEnter,
  onFocus,
  ...props
}: ComponentProps<typeof NextLink>) {
  const [isAimedAt, setAimedAt] = useState(false);
  return (
    <NextLink
      {...props}
      prefetch={isAimedAt ? prefetch : false}
      onPointerEnter={(event) => {
        setAimedAt(true);
        onPointerEnter?.(event);
      }}
      onFocus={(event) => {
        setAimedAt(true);
        onFocus?.(event);
      }}
    />
  );
}
