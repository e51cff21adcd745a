import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { coloursByName, projectColour, projectColours } from "./colours";

type Triple = [number, number, number];
type Colour = { lightness: number; chroma: number; hue: number };

const theme = readFileSync("app/theme.css", "utf8");
const parse = (text: string): Colour => {
  const [lightness = 0, chroma = 0, hue = 0] = text.split(" ").map(Number);
  return { lightness, chroma, hue };
};
const palette = [
  ...theme.matchAll(/--chart-\d+: light-dark\(oklch\(([\d. ]+)\), oklch\(([\d. ]+)\)\);/g),
].map(([, light = "", dark = ""]) => ({ light: parse(light), dark: parse(dark) }));

const toLab = ({ lightness, chroma, hue }: Colour): Triple => {
  const angle = (hue * Math.PI) / 180;
  return [lightness, chroma * Math.cos(angle), chroma * Math.sin(angle)];
};
const times = (matrix: Triple[], [a, b, c]: Triple) =>
  matrix.map(([x, y, z]) => x * a + y * b + z * c) as Triple;

/** OKLab to linear sRGB and back (Ottosson, 2020). */
function toLinear(lab: Triple): Triple {
  const roots = times(
    [
      [1, 0.3963377774, 0.2158037573],
      [1, -0.1055613458, -0.0638541728],
      [1, -0.0894841775, -1.291485548],
    ],
    lab,
  );
  const linear = times(
    [
      [4.0767416621, -3.3077115913, 0.2309699292],
      [-1.2684380046, 2.6097574011, -0.3413193965],
      [-0.0041960863, -0.7034186147, 1.707614701],
    ],
    roots.map((root) => root ** 3) as Triple,
  );
  return linear.map((part) => Math.min(1, Math.max(0, part))) as Triple;
}
function fromLinear(rgb: Triple): Triple {
  const cones = times(
    [
      [0.4122214708, 0.5363325363, 0.0514459929],
      [0.2119034982, 0.6806995451, 0.1073969566],
      [0.0883024619, 0.2817188376, 0.6299787005],
    ],
    rgb,
  );
  return times(
    [
      [0.2104542553, 0.793617785, -0.0040720468],
      [1.9779984951, -2.428592205, 0.4505937099],
      [0.0259040371, 0.7827717662, -0.808675766],
    ],
    cones.map(Math.cbrt) as Triple,
  );
}

/** How linear sRGB is seen (Machado, Oliveira and Fernandes, 2009, severity 1). */
const visions: Record<string, Triple[]> = {
  "normal vision": [
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
  ],
  protanopia: [
    [0.152286, 1.052583, -0.204868],
    [0.114503, 0.786281, 0.099216],
    [-0.003882, -0.048116, 1.051998],
  ],
  deuteranopia: [
    [0.367322, 0.860646, -0.227968],
    [0.280085, 0.672501, 0.047413],
    [-0.01182, 0.04294, 0.968881],
  ],
  tritanopia: [
    [1.255528, -0.076749, -0.178779],
    [-0.078411, 0.930809, 0.147602],
    [0.004733, 0.691367, 0.3039],
  ],
};

test("Has ten colours of similar weight, each with the same hue and chroma in both themes", () => {
  expect(palette).toHaveLength(10);
  for (const { light, dark } of palette) {
    expect([dark.hue, dark.chroma]).toEqual([light.hue, light.chroma]);
    expect(light.lightness).toBeGreaterThan(0.48);
    expect(light.lightness).toBeLessThan(0.68);
    expect(light.chroma).toBeLessThanOrEqual(0.17);
  }
});

test.each(["light", "dark"] as const)("Can be told apart with every colour vision (%s)", (mode) => {
  for (const [name, vision] of Object.entries(visions)) {
    const seen = palette.map((colour) => {
      const rgb = times(vision, toLinear(toLab(colour[mode])));
      return fromLinear(rgb.map((part) => Math.min(1, Math.max(0, part))) as Triple);
    });
    for (const [index, a] of seen.entries())
      for (const b of seen.slice(0, index)) {
        const distance = Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
        expect(distance, `${name}: ${index + 1} and ${seen.indexOf(b) + 1}`).toBeGreaterThan(0.06);
      }
  }
});

/** The contrast of two colours in linear sRGB (WCAG 2.2). */
function contrast(...colours: [Triple, Triple]): number {
  const luminances = colours.map(([red, green, blue]) => 0.2126 * red + 0.7152 * green + 0.0722 * blue);
  const [high = 0, low = 0] = luminances.sort((a, b) => b - a);
  return (high + 0.05) / (low + 0.05);
}

/** A colour of the theme in linear sRGB. */
function token(name: string, mode: "light" | "dark"): Triple {
  const [, light = "", dark = ""] =
    new RegExp(`--${name}: light-dark\\(oklch\\(([\\d. ]+)\\), oklch\\(([\\d. ]+)\\)\\);`).exec(theme) ?? [];
  return toLinear(toLab(parse({ light, dark }[mode])));
}

test.each(["light", "dark"] as const)("Has a contrast of 3:1 with the background (%s)", (mode) => {
  for (const colour of palette)
    expect(contrast(toLinear(toLab(colour[mode])), token("card", mode))).toBeGreaterThanOrEqual(3);
});

test.each(["light", "dark"] as const)(
  "Gives badges text of a contrast of 4.5:1, also in rows that the pointer is over (%s)",
  (mode) => {
    const encode = (part: number) => (part <= 0.0031308 ? 12.92 * part : 1.055 * part ** (1 / 2.4) - 0.055);
    const decode = (part: number) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
    for (const name of ["warning", "destructive", "success"])
      for (const behind of ["background", "card", "popover", "muted", "accent", "secondary", "sidebar"]) {
        const text = token(name, mode);
        // A badge's background is a tenth of its text's colour over the page. Browsers mix colours in encoded sRGB.
        const tint = token(behind, mode).map((part, index) =>
          decode(0.9 * encode(part) + 0.1 * encode(text[index] ?? 0)),
        ) as Triple;
        expect([name, behind, contrast(text, tint) >= 4.5]).toEqual([name, behind, true]);
      }
  },
);

test("Gives up to ten projects in one chart different colours, and each its own where it is free", () => {
  const order = Array.from({ length: 60 }, (_, index) => `p${index}`);
  const shown = ["p3", "p13", "p23", "p59", "p0", "p1", "p2", "p4", "p5", "p6"];
  const colours = projectColours(shown, order);
  expect(new Set(colours.values()).size).toBe(10);
  expect(colours.get("p3")).toBe(projectColours(["p3"], order).get("p3"));
});

test("Keeps a project's colour when other projects are added", () => {
  const before = ["checkout", "search"];
  for (const slug of before) {
    expect(projectColour(slug, [...before, "later"])).toBe(projectColour(slug, before));
  }
});

test("Gives names shown together different colours while there are enough", () => {
  const names = ["gpt-4o", "gpt-4o-mini", "claude", "haiku", "opus", "llama", "mistral", "qwen"];
  expect(new Set(coloursByName(names).values()).size).toBe(8);
});
