import { expect, test } from "vitest";
import { placeHeading } from "./picture-heading";

const measure = (text: string) => [...text].length * 7;
const edges = { left: 16, right: 400 };
const series = Array.from({ length: 9 }, (_, place) => ({
  name:
    place === 4
      ? "A name that is far too long for one line of any picture, however wide it may be"
      : `Project ${place}`,
  colour: `var(--chart-${place})`,
  note: `$${place}.00`,
}));

test("Says the title, the days with the total, and each series with its sum, within the picture and apart", () => {
  const { texts, height } = placeHeading(
    { title: "Spend by day", detail: "Nov 1 – 23, 2026 · $36.00 in total", series },
    edges,
    measure,
  );
  expect(texts.slice(0, 2).map(({ text }) => text)).toEqual([
    "Spend by day",
    "Nov 1 – 23, 2026 · $36.00 in total",
  ]);
  for (const { name, colour, note } of series) {
    const placed = texts.find((text) => text.colour === colour);
    expect(placed?.text.startsWith(name.slice(0, 9))).toBe(true);
    expect(placed?.text.endsWith(` ${note}`)).toBe(true);
  }
  for (const { text, x, y } of texts) {
    expect(x + measure(text)).toBeLessThanOrEqual(edges.right);
    expect(y).toBeLessThan(height);
  }
  for (const [index, one] of texts.entries())
    for (const other of texts.slice(index + 1))
      expect(one.y !== other.y || one.x + measure(one.text) < other.x).toBe(true);
});
