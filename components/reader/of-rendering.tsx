import { createContext, type ReactNode, use } from "react";
import { defaultReader, type Reader } from "./reader";

/*
 * The reader of a page while the server renders its client components to HTML. Several pages are rendered at the same time,
 * so this is a React context. On the server, these functions are only called during rendering.
 */

const Context = createContext(defaultReader);

/** The reader of the page that is being rendered. */
export function currentReader(): Reader {
  return use(Context);
}

/** Sets the current reader for its children. */
export function ReaderContext({
  value,
  children,
}: {
  value: Reader;
  isFallback: boolean;
  children: ReactNode;
}) {
  return <Context value={value}>{children}</Context>;
}
