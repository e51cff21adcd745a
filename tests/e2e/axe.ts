import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "@playwright/test";
import type axe from "axe-core";
import { projectRoot } from "@/tests/helpers/project-root";

const source = readFileSync(join(projectRoot, "node_modules/axe-core/axe.min.js"), "utf8");

/** The rules whose result depends on the theme. Other violations are the same in both. */
const ofColours = ["color-contrast", "link-in-text-block"];

/** What is checked: everything except colours, or the colours of the present theme. */
export type Aspect = "structure" | "colours";

/** How many elements of a look were found readable, by the look's hash. */
type Readable = Record<string, number>;

/** What the pages have shown that this process opened. */
let readableSoFar: Readable = {};

/**
 * Checks a page with axe, or what is open above it: modal dialogs, whose page is inert, or else popovers and menus. The page beneath
 * is checked without them. Of text with the same look on the same background only some is checked for colours: a page
 * of a hundred endpoints shows the same few colours a hundred times, and so do the pages that a process opens one after another.
 * Each check takes a millisecond or more, and each page that has something to check, some hundreds.
 * @returns the violated rules, each with the first element
 */
export async function findBarriers(page: Page, aspect: Aspect): Promise<string[]> {
  if (!(await page.evaluate(() => "axe" in window))) await page.evaluate(source);
  const { barriers, readable } = await page.evaluate(lookAtPage, {
    aspect,
    ofColours,
    known: readableSoFar,
  });
  readableSoFar = readable;
  return barriers;
}

/** Runs in the page. */
async function lookAtPage({
  aspect,
  ofColours,
  known,
}: {
  aspect: Aspect;
  ofColours: string[];
  known: Readable;
}): Promise<{ barriers: string[]; readable: Readable }> {
  const ofEachLook = 3;

  /** A hash of 53 bits (cyrb53): the same text has the same hash on every page. */
  const hash = (text: string) => {
    let [high, low] = [0xdeadbeef, 0x41c6ce57];
    for (let at = 0; at < text.length; at += 1) {
      const code = text.charCodeAt(at);
      high = Math.imul(high ^ code, 2654435761);
      low = Math.imul(low ^ code, 1597334677);
    }
    high = Math.imul(high ^ (high >>> 16), 2246822507) ^ Math.imul(low ^ (low >>> 13), 3266489909);
    low = Math.imul(low ^ (low >>> 16), 2246822507) ^ Math.imul(high ^ (high >>> 13), 3266489909);
    return (4294967296 * (2097151 & low) + (high >>> 0)).toString(36);
  };

  /**
   * What decides the colours of an element's text: its own style, and what is behind it. An ancestor without a background of its
   * own, opaque and in the flow, is not behind anything.
   */
  const describeLook = (element: Element, style: CSSStyleDeclaration, behind: string) => {
    const look = [behind, element.tagName, ...styleOfText(style)];
    if (element.tagName !== "A") return look;
    // Axe compares a link with the text of its block.
    for (let around = element.parentElement; around; around = around.parentElement) {
      const outer = getComputedStyle(around);
      look.push(outer.display, ...styleOfText(outer));
      if (!outer.display.startsWith("inline")) break;
    }
    return look;
  };
  const styleOfText = (style: CSSStyleDeclaration) => [
    style.color,
    style.fontSize,
    style.fontWeight,
    style.textDecorationLine,
  ];

  /** Visible elements with text of their own, a few for each look. */
  const sample = () => {
    const backdrops = new Map<Element | null, string>();
    const seen = new Map<string, number>(Object.entries(known));
    const chosen = new Map<Element, string>();
    const hasText = ({ childNodes }: Element) =>
      [...childNodes].some(({ nodeType, nodeValue }) => nodeType === Node.TEXT_NODE && nodeValue?.trim());
    // Over the whole page, because a dialog's look depends on what it is in.
    for (const element of document.querySelectorAll("html, body, body *")) {
      const style = getComputedStyle(element);
      const { backgroundColor, backgroundImage, opacity } = style;
      const position = style.position === "relative" && style.zIndex === "auto" ? "static" : style.position;
      const own = [backgroundColor, backgroundImage, opacity, position].join();
      const around = backdrops.get(element.parentElement) ?? "";
      const behind = own === "rgba(0, 0, 0, 0),none,1,static" ? around : hash(`${around} ${own}`);
      backdrops.set(element, behind);
      if (!hasText(element) && !element.matches("input, select, textarea")) continue;
      if (above.length > 0 && !above.some((each) => each.contains(element))) continue;
      if (!element.checkVisibility({ visibilityProperty: true })) continue;
      const look = hash(describeLook(element, style, behind).join());
      seen.set(look, (seen.get(look) ?? 0) + 1);
      if ((seen.get(look) ?? 0) <= ofEachLook) chosen.set(element, look);
    }
    return chosen;
  };

  const modals = [...document.querySelectorAll("dialog:modal")];
  // Notices have an element that is open all the time, and is as large as what it shows.
  const popovers = [...document.querySelectorAll(":popover-open")].filter(
    ({ clientHeight }) => clientHeight > 0,
  );
  const above = modals.length > 0 ? modals : popovers;
  const { run } = (window as unknown as { axe: typeof axe }).axe;
  const list = ({ violations }: axe.AxeResults) =>
    violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`);
  if (aspect === "structure") {
    const rules = Object.fromEntries(ofColours.map((rule) => [rule, { enabled: false }]));
    return {
      barriers: list(
        await run(above.length > 0 ? { include: above } : document, {
          resultTypes: ["violations"],
          selectors: false,
          rules,
        }),
      ),
      readable: known,
    };
  }
  const chosen = sample();
  if (chosen.size === 0) return { barriers: [], readable: known };
  const result = await run(
    { include: [...chosen.keys()] },
    { resultTypes: ["violations", "passes"], selectors: false, elementRef: true, runOnly: ofColours },
  );
  // Not those of which axe cannot tell: they are checked again on the next page.
  const readable = { ...known };
  for (const { element } of result.passes.find(({ id }) => id === "color-contrast")?.nodes ?? []) {
    const look = element && chosen.get(element as Element);
    if (look) readable[look] = (readable[look] ?? 0) + 1;
  }
  return { barriers: list(result), readable };
}
