import type { ReactNode } from "react";
import { defaultReader, type Reader } from "./reader";

/*
 * The reader of a page in a browser. It is a module variable and not a React context, because event handlers and effects format
 * figures, too. Scripts and tests without a page have the default reader.
 */

let reader: Reader | undefined;

/** The reader of the shown page. */
export function currentReader(): Reader {
  return reader ?? defaultReader;
}

/**
 * Sets the current reader for its children.
 * @param props.isFallback whether to keep a reader that was set before
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
  // Sets it during the rendering, because the children are rendered afterwards.
  if (!isFallback || reader === undefined) reader = value;
  return children;
}
