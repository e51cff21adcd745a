import { createElement } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import { expect, test } from "vitest";
import { Drawing, type Drawn, fitLabel, labelWidth } from "./drawing";
import { findCut } from "./outliers";

const height = 288;
const draw = (drawn: Pick<Drawn, "series"> & Partial<Drawn>) =>
  renderToStaticMarkup(
    createElement(Drawing, {
      places: (drawn.series[0]?.values ?? []).map((_, place) => ({
        title: `Day ${place}`,
        short: `D${place}`,
      })),
      kind: "stacked",
      height,
      formatTick: String,
      ...drawn,
    }),
  );
const series = (name: string, ...values: number[]) => ({ name, colour: name, values });

/** Reads the tops and heights of a series' bars from the markup, in pixels. */
function barsOf(markup: string, colour: string): { top: number; height: number }[] {
  const [, path = ""] = new RegExp(`<path fill="${colour}" d="([^"]*)"`).exec(markup) ?? [];
  return [...path.matchAll(/M[\d.]+ ([\d.]+)h[\d.]+v([\d.]+)/g)].map(([, top, size]) => ({
    top: Number(top),
    height: Number(size),
  }));
}

/** The position of a tick of the axis, in pixels from the top. */
const tickAt = (markup: string, label: string) =>
  Number(new RegExp(` y="([\\d.]+)"[^>]*>${label}</text>`).exec(markup)?.[1]);

test("Draws amounts below zero below a zero line with ticks on both sides, and hatches them", () => {
  const markup = draw({ series: [series("red", 10, -10), series("blue", 10, 0)] });
  const zero = tickAt(markup, "0");
  expect(tickAt(markup, "-10")).toBeGreaterThan(zero);
  expect(tickAt(markup, "20")).toBeLessThan(zero);
  const [up, down] = barsOf(markup, "red");
  expect((up?.top ?? 0) + (up?.height ?? 0)).toBeCloseTo(zero, 1);
  expect(down?.top).toBeCloseTo(zero, 1);
  expect(down?.height).toBeCloseTo(up?.height ?? 0, 1);
  expect(markup.match(/fill="url\(#/g)).toHaveLength(1);
});

test("Draws a bar as high as the sum of its parts", () => {
  const markup = draw({ series: [series("red", 30), series("blue", 20), series("green", 50)] });
  const heights = ["red", "blue", "green"]
    .flatMap((colour) => barsOf(markup, colour))
    .map((bar) => bar.height);
  const sum = heights.reduce((all, each) => all + each, 0);
  expect(sum).toBeCloseTo(tickAt(markup, "0") - tickAt(markup, "100"), 1);
});

test("Ends a bar that is cut at the edge, with a break, and keeps the others readable", () => {
  const many = [series("red", 10, 12, 9, 12_400, -8_000, 14, 11)];
  const cut = findCut(many, "stacked");
  const markup = draw({ series: many, cut });
  expect(markup.match(/data-break/g)).toHaveLength(2);
  const bars = barsOf(markup, "red");
  expect(bars[3]?.top).toBe(10);
  expect(bars[5]?.height).toBeGreaterThan(height / 4);
  expect((bars[4]?.top ?? 0) + (bars[4]?.height ?? 0)).toBe(height - 24);
  expect(draw({ series: many })).not.toContain("data-break");
});

test("Draws a bar that is cut in the colours of all its parts, each as high as its share", () => {
  const many = [series("red", 6, 6, 6, 300, 6, 6), series("blue", 4, 4, 4, 900, 4, 4)];
  const cut = findCut(many, "stacked");
  expect(cut?.beyond).toEqual([3]);
  const markup = draw({ series: many, cut });
  const [red, blue] = ["red", "blue"].map((colour) => barsOf(markup, colour)[3]);
  expect(red?.height).toBeGreaterThan(20);
  expect((blue?.height ?? 0) / (red?.height ?? 1)).toBeCloseTo(3, 1);
  // The stacked bars end at the edge.
  expect(blue?.top).toBe(10);
});

test("Cuts labels by how wide they are, at their ends in both directions of writing", () => {
  expect(fitLabel("checkout", 62)).toBe("checkout");
  for (const label of [
    "Customer support assistant",
    "北部地域のカスタマーサポート",
    "مساعد دعم العملاء للمناطق",
  ]) {
    const shown = fitLabel(label, 62);
    expect(labelWidth(shown.replaceAll(/[\u2068\u2069]/g, ""))).toBeLessThanOrEqual(62);
    expect(shown).toContain(`${label.slice(0, 3)}`);
    expect(shown).toMatch(/…\u2069?$/);
  }
  // Isolated from the surrounding text: otherwise its end would be drawn before its start.
  expect(fitLabel("مساعد دعم العملاء للمناطق", 62)).toMatch(/^\u2068.*\u2069$/);
});

test("Draws the days compared with as a line only where there are two", () => {
  const line = (...values: (number | null)[]) => draw({ series: [series("red", 1, 2, 3)], line: values });
  expect(line(4, null, 6)).toContain("visx-linepath");
  expect(line(null, 5, null)).not.toContain("visx-linepath");
});
