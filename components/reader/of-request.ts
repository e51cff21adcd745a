import { cache } from "react";
import { defaultReader, type Reader } from "./reader";

/*
 * The reader of a page while the server renders its server components, kept in React's cache for the request.
 */

const kept = cache((): { reader: Reader } => ({ reader: defaultReader }));

/** The reader of the page that is being rendered. */
export function currentReader(): Reader {
  return kept().reader;
}

/** Sets the reader of the page that is being rendered. Pages do it before they format a figure. */
export function setReader(reader: Reader): void {
  kept().reader = reader;
}
