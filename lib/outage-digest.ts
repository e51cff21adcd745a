/** In a file of its own because error pages load it in the browser. */
const mark = "unavailable: ";

/** The `digest` of an `unavailable`: what an error page gets of an error that a page throws. @param description the error's message */
export function digestOfOutage(description: string): string {
  return mark + description;
}

/** The description in a digest of `digestOfOutage`; undefined for other errors. */
export function outageOf(digest: string | undefined): string | undefined {
  return digest?.startsWith(mark) ? digest.slice(mark.length) : undefined;
}
