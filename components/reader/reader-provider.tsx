"use client";

import type { ReactNode } from "react";
import { ReaderContext } from "#reader";
import type { Reader } from "./reader";

/**
 * Says who reads what it contains, for the components of browsers: figures are formatted for this reader, on the server as
 * in the browser, so that both write the same text. Server components are told by `setReader`.
 * @param props.isFallback for what is outside a workspace, where the settings of the reader are not known
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
