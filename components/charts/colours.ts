/** Colours of the palette: `--chart-1` to `--chart-8`. */
const paletteSize = 8;

/** The colour of what is not shown by itself. */
export const restColour = "var(--chart-rest)";

const colourAt = (place: number) => `var(--chart-${(place % paletteSize) + 1})`;

/**
 * The colour of a project, the same on every page: each takes the next colour of the palette when it is made, so a new
 * project never changes an older one's.
 * @param order the slugs of all projects of the workspace, the oldest first
 */
export function projectColour(slug: string | null, order: string[]): string {
  const place = slug === null ? -1 : order.indexOf(slug);
  return place < 0 ? restColour : colourAt(place);
}

/**
 * Colours for names that have no order of their own, such as models. A name takes the colour its letters give it, or
 * the next one that is free: names that are shown together differ as long as there are colours.
 */
export function coloursByName(names: string[]): Map<string, string> {
  const taken = new Set<number>();
  const colours = new Map<string, string>();
  for (const name of [...names].sort()) {
    let place = hash(name) % paletteSize;
    while (taken.has(place) && taken.size < paletteSize) place = (place + 1) % paletteSize;
    taken.add(place);
    colours.set(name, colourAt(place));
  }
  return colours;
}

function hash(text: string): number {
  let value = 0;
  for (const letter of text) value = (value * 31 + (letter.codePointAt(0) ?? 0)) >>> 0;
  return value;
}
