"use client";

import { useEffect } from "react";
import { writeLastWorkspace } from "./last-workspace";

/** Remembers in this browser that a workspace was used last. It shows nothing. */
export function RememberWorkspace({ slug }: { slug: string }) {
  useEffect(() => {
    // biome-ignore lint/suspicious/noDocumentCookie: the Cookie Store API is not in every browser.
    document.cookie = writeLastWorkspace(slug, location.protocol === "https:");
  }, [slug]);
  return null;
}
