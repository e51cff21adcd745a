import { gzipSync } from "node:zlib";
import { devices, expect, type Page, type Response } from "@playwright/test";
import { findBarriers } from "./axe";

/** The compressed bytes that a page may load before it handles input. */
const maxScriptBytes = 190_000;

/** Starts counting layout shifts on all pages that this page opens. Call it before the first `goto`. */
export async function watchLayout(page: Page): Promise<void> {
  await page.addInitScript(() => {
    const shifts: string[] = [];
    Object.assign(window, { layoutShifts: shifts });
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries() as (PerformanceEntry & {
        hadRecentInput: boolean;
        sources: { node: Node | null; previousRect: DOMRectReadOnly; currentRect: DOMRectReadOnly }[];
      })[]) {
        if (entry.hadRecentInput) continue;
        for (const { node, previousRect, currentRect } of entry.sources) {
          const moved = node instanceof Element ? node.outerHTML : String(node?.textContent);
          const within = node?.parentElement?.outerHTML.slice(0, 200);
          const [from, to] = [previousRect, currentRect].map(({ x, y, width, height }) =>
            [x, y, width, height].join(" "),
          );
          shifts.push(
            `${moved.slice(0, 160)} from ${from} to ${to} within ${within} at ${location.pathname}`,
          );
        }
      }
    }).observe({ type: "layout-shift", buffered: true });
  });
}

/** Asserts that there was no layout shift since `watchLayout`. */
export async function expectStill(page: Page): Promise<void> {
  await page.waitForLoadState("networkidle");
  const shifts = await page.evaluate(() => (window as unknown as { layoutShifts: string[] }).layoutShifts);
  expect(shifts).toEqual([]);
}

/** Collects what a policy blocked from now on, over all pages opened: directive, address and sample. */
export async function watchPolicy(page: Page): Promise<string[]> {
  const violations: string[] = [];
  await page.exposeFunction("reportViolation", (violation: string) => violations.push(violation));
  await page.addInitScript(() => {
    const { reportViolation } = window as unknown as { reportViolation(violation: string): void };
    document.addEventListener("securitypolicyviolation", (event) => {
      const { effectiveDirective, blockedURI, sample, documentURI } = event;
      reportViolation(`${effectiveDirective} ${blockedURI} ${sample} on ${documentURI}`);
    });
  });
  return violations;
}

/**
 * Asserts that the page is accessible in light and dark and not wider than the screen. On a phone only in the theme that it has: it
 * shows the colours of a wide screen, whose tests check both.
 */
export async function expectUsable(page: Page): Promise<void> {
  await expectSound(page);
  const isPhone = await page.evaluate(() => matchMedia("(pointer: coarse)").matches);
  expect(await findBarriers(page, isPhone ? "present colours" : "colours")).toEqual([]);
  await expectWithin(page);
}

/**
 * The same for what is open on a page, also where the screen is as narrow as a phone's. Layout is the style sheet's alone, so nothing
 * has to be opened again.
 */
export async function expectUsableAlsoOnPhone(page: Page): Promise<void> {
  await expectUsable(page);
  const wide = page.viewportSize();
  if (wide === null) throw new Error("The page has no viewport of its own.");
  await page.setViewportSize(devices["Pixel 7"].viewport);
  await expectUsable(page);
  await page.setViewportSize(wide);
}

/** Asserts that the page follows the system's theme while it is open. */
export async function expectSystemTheme(page: Page): Promise<void> {
  for (const colorScheme of ["dark", "light"] as const) {
    await page.emulateMedia({ colorScheme });
    await expect(page.locator("html")).toHaveClass(new RegExp(`\\b${colorScheme}\\b`));
  }
}

/** Asserts that there is no barrier but those of colours. */
async function expectSound(page: Page): Promise<void> {
  // Next streams the title of a page after its content: while a page is refreshed, the document has none for a moment.
  await expect(async () => expect(await findBarriers(page, "structure")).toEqual([])).toPass({
    timeout: 10_000,
  });
}

/** Asserts that the page is not wider than the screen. */
export async function expectWithin(page: Page): Promise<void> {
  const overflow = await page.evaluate(
    () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
  );
  expect(overflow).toBeLessThanOrEqual(0);
}

/** Compressed sizes of scripts, cached because pages share most of them. */
const sizes = new Map<string, Promise<number>>();

async function readSize(page: Page, source: string): Promise<number> {
  return gzipSync(await (await page.request.get(source)).body()).length;
}

/** Asserts that the scripts of a page's HTML are within the limit. @param opened what the page's `goto` resolved with */
export async function expectLight(page: Page, opened: Response | null): Promise<void> {
  const html = (await opened?.text()) ?? "";
  const tags = [...html.matchAll(/<script[^>]*\bsrc="([^"]+)"[^>]*>/g)];
  const sources = new Set(tags.filter(([tag]) => !/nomodule/i.test(tag)).map(([, source]) => source ?? ""));
  for (const source of sources) sizes.set(source, sizes.get(source) ?? readSize(page, source));
  const loaded = await Promise.all([...sources].map((source) => sizes.get(source) ?? 0));
  const bytes = loaded.reduce((sum, size) => sum + size, 0);
  expect(sources.size).toBeGreaterThan(0);
  const sizesOf = [...sources].map((source, index) => `${loaded[index]} ${source}`).join("\n");
  expect(bytes, sizesOf).toBeLessThanOrEqual(maxScriptBytes);
}
