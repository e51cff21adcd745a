"use client";

import type { ReactNode } from "react";
import { ReaderContext } from "#reader";
import type { Reader } from "./reader";

/**
 * Sets the reader for the client components inside it. They format figures for this reader on the server and in the browser, so
 * that both write the same text. Server components use `setReader`.
 * @param props.isFallback for pages outside of a workspace, where the reader's settings are not known
 */
export function ReaderProvider({
  reader,
  isFallback = false,
  children,
}: {
  reader: Reader;
  isFallback?: boolean;
  children: ReactNode;
}) {
  return (
    <ReaderContext value={reader} isFallback={isFallback}>
      {children}
    </ReaderContext>
  );
}
