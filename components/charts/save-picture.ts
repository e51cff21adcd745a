import { margin } from "./margin";
import { drawHeading, headingFont, type PictureHeading, placeHeading } from "./picture-heading";

/** The properties of drawn elements that depend on the theme or the width of the screen. */
const themed = ["fill", "stroke", "font-family", "font-size", "display"] as const;

const svgNamespace = "http://www.w3.org/2000/svg";

/**
 * Saves the drawing of the chart inside an element as a PNG, twice as large as it is shown, below a heading.
 * @throws Error if there is no drawing, or the browser cannot make a picture of it
 */
export async function savePicture(
  frame: HTMLElement,
  fileName: string,
  heading: PictureHeading,
): Promise<void> {
  const drawing = frame.querySelector("svg[data-chart]");
  if (!(drawing instanceof SVGSVGElement)) throw new Error("There is no chart to save.");
  const copy = drawing.cloneNode(true) as SVGSVGElement;
  const originals = [drawing, ...drawing.querySelectorAll("*")];
  // A picture has no stylesheet, so the present colours and fonts are copied into it.
  for (const [index, element] of [copy, ...copy.querySelectorAll("*")].entries()) {
    const original = originals[index];
    if (!original) continue;
    const shown = getComputedStyle(original);
    for (const property of themed) {
      const given = original.getAttribute(property) ?? original.getAttribute(toAttribute(property));
      if (given === null || !given.startsWith("url("))
        element.setAttribute(property, shown.getPropertyValue(property));
    }
  }
  const inner = drawing.getBoundingClientRect();
  const width = inner.width + margin.left + margin.right;
  const { height } = inner;
  copy.setAttribute("x", String(margin.left));
  copy.setAttribute("width", String(inner.width));
  // The labels of the axis lie outside the drawing's box.
  copy.setAttribute("overflow", "visible");
  const picture = document.createElementNS(svgNamespace, "svg");
  picture.setAttribute("width", String(width));
  picture.setAttribute("height", String(height));
  picture.append(copy);
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(new XMLSerializer().serializeToString(picture))}`;
  await image.decode();
  const canvas = document.createElement("canvas");
  const context = canvas.getContext("2d");
  if (!context) throw new Error("This browser cannot draw pictures.");
  const page = getComputedStyle(document.body);
  const family = page.fontFamily;
  const placed = placeHeading(heading, { left: 16, right: width - 16 }, (text, kind) => {
    context.font = headingFont(kind, family);
    return context.measureText(text).width;
  });
  canvas.width = width * 2;
  canvas.height = (height + placed.height) * 2;
  context.scale(2, 2);
  context.fillStyle = page.backgroundColor;
  context.fillRect(0, 0, width, height + placed.height);
  drawHeading(context, placed.texts, {
    family,
    ink: page.color,
    muted: page.getPropertyValue("--muted-foreground") || page.color,
    resolve: (colour) => {
      const [, name] = /^var\((.+)\)$/.exec(colour) ?? [];
      return name === undefined ? colour : page.getPropertyValue(name);
    },
  });
  context.drawImage(image, 0, placed.height, width, height);
  const blob = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, "image/png"));
  if (!blob) throw new Error("This browser cannot save pictures.");
  saveFile(blob, fileName);
}

const toAttribute = (property: string) =>
  property.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());

/** Saves a file from the page. */
export function saveFile(content: Blob, fileName: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(content);
  link.download = fileName;
  link.click();
  // Revokes the URL later, when the browser has begun to read it.
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
