"use client";

import NextLink from "next/link";
import { type ComponentProps, useState } from "react";

/**
 * A link to a page of the dashboard. It loads the frame of the page when it is pointed at or focused. Next's own link does so
 * as soon as it is seen: a page with a sidebar then sends thirty requests, in front of which the page's own scripts wait.
 * With `prefetch={false}` it loads nothing before it is followed.
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
