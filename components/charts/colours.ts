/** Number of colours in the palette: `--chart-1` to `--chart-8`. */
const paletteSize = 8;

/** The colour of "Other" and of values without a name. */
export const restColour = "var(--chart-rest)";

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
 * Colours for names without an order, such as models. The hash of a name chooses its colour; when another name has it, the
 * next free colour is taken. Up to eight names that are shown together have different colours.
 */
export function coloursByName(names: string[]): Map<string, string> {
  const taken = new Set<number>();
  const colours = new Map<string, string>();
  for (const name of [...names].sort()) {
    let index = hash(name) % paletteSize;
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
