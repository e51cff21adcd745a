/** Number of colours in the palette: `--chart-1` to `--chart-10`. */
const paletteSize = 10;

/** The colour of "Other", which is the sum of several. */
export const restColour = "var(--chart-rest)";

/** The colour of spend without a value: "No model". */
export const noneColour = "var(--chart-none)";

/** The colour of allocations to and from projects. */
export const allocatedColour = "var(--chart-allocated)";

/** The colour of what providers billed on days of which nothing is recorded. */
export const historyColour = "var(--chart-history)";

const colourAt = (index: number) => `var(--chart-${(index % paletteSize) + 1})`;

/**
 * The colour of a project, the same on every page. Projects take the colours in the order of their creation, so that a new
 * project does not change the colours of older ones.
 * @param order the slugs of all projects of the workspace, the oldest first
 */
export function projectColour(slug: string | null, order: string[]): string {
  const index = slug === null ? -1 : order.indexOf(slug);
  return index < 0 ? restColour : colourAt(index);
}

/**
 * The colours of projects that are shown together: each its own (`projectColour`). If two have the same colour, the later one
 * gets the next free colour. Up to ten projects have different colours.
 * @param order the slugs of all projects of the workspace, the oldest first
 */
export function projectColours(slugs: string[], order: string[]): Map<string, string> {
  const placeOf = new Map(order.map((slug, place) => [slug, place]));
  const known = slugs.filter((slug) => placeOf.has(slug));
  known.sort((a, b) => (placeOf.get(a) ?? 0) - (placeOf.get(b) ?? 0));
  return assign(known, (slug) => placeOf.get(slug) ?? 0);
}

/**
 * Colours for names without an order, such as models. The hash of a name chooses its colour; when another name has it, the
 * next free colour is taken. Up to ten names that are shown together have different colours.
 */
export function coloursByName(names: string[]): Map<string, string> {
  return assign([...names].sort(), hash);
}

/** Gives each name the colour of its number, or the next one that is free. */
function assign(names: string[], numberOf: (name: string) => number): Map<string, string> {
  const taken = new Set<number>();
  const colours = new Map<string, string>();
  for (const name of names) {
    let index = numberOf(name) % paletteSize;
    while (taken.has(index) && taken.size < paletteSize) index = (index + 1) % paletteSize;
    taken.add(index);
    colours.set(name, colourAt(index));
  }
  return colours;
}

function hash(text: string): number {
  let value = 0;
  for (const letter of text) value = (value * 31 + (letter.codePointAt(0) ?? 0)) >>> 0;
  return value;
}
