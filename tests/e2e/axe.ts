import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "@playwright/test";
import type axe from "axe-core";
import { projectRoot } from "@/tests/helpers/project-root";

const source = readFileSync(join(projectRoot, "node_modules/axe-core/axe.min.js"), "utf8");

/** The rules whose result depends on the theme. Other violations are the same in both. */
const ofColours = ["color-contrast", "link-in-text-block"];

/** What is checked: everything except colours, or the colours of both themes or of the present one. */
export type Aspect = "structure" | "colours" | "present colours";

/** The hashes of the looks of which an element was found readable, on the pages that this process opened. */
let readableSoFar: string[] = [];

/**
 * Checks a page with axe, or what is open above it: modal dialogs, whose page is inert, or else popovers and menus. The page beneath
 * is checked without them. Of text with the same look on the same background a few elements are checked for colours, once: a page
 * of a hundred endpoints shows the same few colours a hundred times, and so do the pages that a process opens one after another.
 * A page that shows no new look is not checked: to compare colours, axe lays out the whole page again, which takes longer than
 * all its other rules. Themes are switched by the class of the document alone, without rendering the page between them.
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
  known: string[];
}): Promise<{ barriers: string[]; readable: string[] }> {
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

  /** What is open and what is around it, because its look depends on that; or the whole page. Parents come before their children. */
  const listElements = () => {
    if (above.length === 0) return document.querySelectorAll("html, body, body *");
    const listed = new Set<Element>();
    for (const open of above) {
      const around: Element[] = [];
      for (let outer = open.parentElement; outer; outer = outer.parentElement) around.unshift(outer);
      for (const element of [...around, open, ...open.querySelectorAll("*")]) listed.add(element);
    }
    return listed;
  };

  /** Visible elements with text of their own, a few for each look that is not known. */
  const sample = () => {
    const backdrops = new Map<Element | null, string>();
    const isKnown = new Set(known);
    const counts = new Map<string, number>();
    const chosen = new Map<Element, string>();
    const hasText = ({ childNodes }: Element) =>
      [...childNodes].some(({ nodeType, nodeValue }) => nodeType === Node.TEXT_NODE && nodeValue?.trim());
    for (const element of listElements()) {
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
      const count = counts.get(look) ?? 0;
      if (isKnown.has(look) || count === ofEachLook) continue;
      counts.set(look, count + 1);
      chosen.set(element, look);
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
  /** Checks the colours of the theme that the page has now. */
  const lookAtColours = async (theme: string) => {
    const chosen = sample();
    if (chosen.size === 0) return [];
    const result = await run(
      { include: [...chosen.keys()] },
      { resultTypes: ["violations", "passes"], selectors: false, elementRef: true, runOnly: ofColours },
    );
    // Not looks of which axe cannot tell: they are checked again on the next page.
    const passed = result.passes.find(({ id }) => id === "color-contrast")?.nodes ?? [];
    const found = passed.flatMap(({ element }) => chosen.get(element as Element) ?? []);
    readable.push(...new Set(found));
    return list(result).map((barrier) => `${barrier} (${theme})`);
  };

  const readable = [...known];
  const { classList } = document.documentElement;
  const present = classList.contains("dark") ? "dark" : "light";
  const other = present === "dark" ? "light" : "dark";
  const barriers = await lookAtColours(present);
  if (aspect === "present colours") return { barriers, readable };
  // A colour that changes gradually would be read before it has changed.
  const still = new CSSStyleSheet();
  still.replaceSync("*, ::before, ::after { transition: none !important }");
  document.adoptedStyleSheets.push(still);
  const { style } = document.documentElement;
  const { colorScheme } = style;
  const show = (theme: string, scheme: string) => {
    classList.remove(present, other);
    classList.add(theme);
    style.colorScheme = scheme;
  };
  show(other, other);
  barriers.push(...(await lookAtColours(other)));
  show(present, colorScheme);
  // Applies the theme before transitions are possible again.
  void getComputedStyle(document.body).color;
  document.adoptedStyleSheets = document.adoptedStyleSheets.filter((sheet) => sheet !== still);
  return { barriers, readable };
}
