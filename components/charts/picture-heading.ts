/** The heading of a chart's picture: its title, a line about its days and total, and its series with their sums. */
export type PictureHeading = {
  title: string;
  detail: string;
  series: { name: string; colour: string; note: string }[];
};

/** A text in a picture, in pixels from the top left; `y` is the baseline. With a colour, a swatch precedes it. */
type PlacedText = { text: string; x: number; y: number; kind: "title" | "detail"; colour?: string };

const lineHeight = 20;
const swatch = 10;
const gap = 16;

/**
 * Places a heading on a picture: the title, the line below it, and as many rows of series as their names need.
 * @param left where texts begin, and `right` where they end, in pixels
 * @param measure returns the width of a text in pixels
 */
export function placeHeading(
  { title, detail, series }: PictureHeading,
  { left, right }: { left: number; right: number },
  measure: (text: string, kind: PlacedText["kind"]) => number,
): { texts: PlacedText[]; height: number } {
  const shorten = (text: string, kind: PlacedText["kind"], width: number): string => {
    if (measure(text, kind) <= width) return text;
    const letters = [...text];
    while (letters.length > 1 && measure(`${letters.join("")}…`, kind) > width) letters.pop();
    return `${letters.join("")}…`;
  };
  const texts: PlacedText[] = [
    { text: shorten(title, "title", right - left), x: left, y: 24, kind: "title" },
    { text: shorten(detail, "detail", right - left), x: left, y: 24 + lineHeight, kind: "detail" },
  ];
  let [x, y] = [left, 24 + 2.25 * lineHeight];
  for (const { name, colour, note } of series) {
    const before = swatch + 6;
    // Cuts a name that is too long for a line, but never the sum.
    const sum = ` ${note}`;
    const text = `${shorten(name, "detail", right - left - before - measure(sum, "detail"))}${sum}`;
    const width = before + measure(text, "detail");
    if (x > left && x + width > right) {
      x = left;
      y += lineHeight;
    }
    texts.push({ text, x: x + before, y, kind: "detail", colour });
    x += width + gap;
  }
  return { texts, height: (series.length > 0 ? y : 24 + lineHeight) + 12 };
}

/** The font of each kind of text. @param family of the page */
export const headingFont = (kind: PlacedText["kind"], family: string) =>
  kind === "title" ? `600 15px ${family}` : `400 12px ${family}`;

/** Draws a placed heading. @param resolve returns the colour of a custom property on the page */
export function drawHeading(
  context: CanvasRenderingContext2D,
  texts: PlacedText[],
  {
    family,
    ink,
    muted,
    resolve,
  }: { family: string; ink: string; muted: string; resolve: (colour: string) => string },
): void {
  for (const { text, x, y, kind, colour } of texts) {
    if (colour !== undefined) {
      context.fillStyle = resolve(colour);
      context.fillRect(x - swatch - 6, y - swatch + 1, swatch, swatch);
    }
    context.font = headingFont(kind, family);
    context.fillStyle = kind === "title" ? ink : muted;
    context.fillText(text, x, y);
  }
}
