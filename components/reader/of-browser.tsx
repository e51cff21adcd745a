import type { ReactNode } from "react";
import { defaultReader, type Reader } from "./reader";

/*
 * The reader of a page in a browser, which has one for all that it shows. Event handlers and effects format figures, too,
 * so this is no context. Scripts and tests without a page have the default reader.
 */

let reader: Reader | undefined;

/** The reader of the page that is being shown. */
export function currentReader(): Reader {
  return reader ?? defaultReader;
}

/**
 * Makes a reader the current one for what it contains.
 * @param props.isFallback whether a reader that is known already stays
 */
export function ReaderContext({
  value,
  isFallback,
  children,
}: {
  value: Reader;
  isFallback: boolean;
  children: ReactNode;
}) {
  // During the rendering, because what it contains is rendered after it.
  if (!isFallback || reader === undefined) reader = value;
  return children;
}
