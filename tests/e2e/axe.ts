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

/**
 * Checks a page with axe. Of text with the same look on the same background only some is checked for colours: a page
 * of a hundred endpoints shows the same few colours a hundred times, and each check takes a millisecond or more.
 * @returns the violated rules, each with the first element
 */
export async function findBarriers(page: Page, aspect: Aspect): Promise<string[]> {
  if (!(await page.evaluate(() => "axe" in window))) await page.evaluate(source);
  return page.evaluate(lookAtPage, { aspect, ofColours });
}

/** Runs in the page. */
async function lookAtPage({ aspect, ofColours }: { aspect: Aspect; ofColours: string[] }): Promise<string[]> {
  const ofEachLook = 5;

  /** Visible elements with text of their own, a few for each look: what decides their colours, from the root down. */
  const sample = () => {
    const looks = new Map<string, number>();
    const lookOf = new Map<Element, number>();
    const seen = new Map<number, number>();
    const hasText = ({ childNodes }: Element) =>
      [...childNodes].some(({ nodeType, nodeValue }) => nodeType === Node.TEXT_NODE && nodeValue?.trim());
    return [...document.body.querySelectorAll("*")].filter((element) => {
      const parent = lookOf.get(element.parentElement ?? document.body) ?? 0;
      const style = getComputedStyle(element);
      const { color, backgroundColor, backgroundImage, opacity, position, fontSize, fontWeight } = style;
      const own = [color, backgroundColor, backgroundImage, opacity, position, fontSize, fontWeight];
      const key = [parent, element.tagName, style.textDecorationLine, ...own].join();
      const look = looks.get(key) ?? looks.size + 1;
      looks.set(key, look);
      lookOf.set(element, look);
      if (!hasText(element) && !element.matches("input, select, textarea")) return false;
      if (!element.checkVisibility({ visibilityProperty: true })) return false;
      seen.set(look, (seen.get(look) ?? 0) + 1);
      return (seen.get(look) ?? 0) <= ofEachLook;
    });
  };

  const { run } = (window as unknown as { axe: typeof axe }).axe;
  const options: axe.RunOptions = { resultTypes: ["violations"] };
  const { violations } =
    aspect === "colours"
      ? await run({ include: sample() }, { ...options, runOnly: ofColours })
      : await run(document, {
          ...options,
          rules: Object.fromEntries(ofColours.map((rule) => [rule, { enabled: false }])),
        });
  return violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`);
}
