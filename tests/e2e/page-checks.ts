import { gzipSync } from "node:zlib";
import { expect, type Page } from "@playwright/test";
import { findBarriers } from "./axe";

/** What a page may load before it is awake, compressed. */
const maxScriptBytes = 180_000;

/** Counts from now on what moves by itself on the pages this page shows. Call it before the first `goto`. */
export async function watchLayout(page: Page): Promise<void> {
  await page.addInitScript(() => {
    const shifts: string[] = [];
    Object.assign(window, { layoutShifts: shifts });
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries() as (PerformanceEntry & {
        hadRecentInput: boolean;
        sources: { node: Node | null }[];
      })[]) {
        if (entry.hadRecentInput) continue;
        for (const { node } of entry.sources) {
          shifts.push(node instanceof Element ? node.outerHTML.slice(0, 160) : String(node?.textContent));
        }
      }
    }).observe({ type: "layout-shift", buffered: true });
  });
}

/** Nothing on the page has moved by itself since `watchLayout`. */
export async function expectStill(page: Page): Promise<void> {
  await page.waitForLoadState("networkidle");
  const shifts = await page.evaluate(() => (window as unknown as { layoutShifts: string[] }).layoutShifts);
  expect(shifts).toEqual([]);
}

/** Everything that a policy kept from a page since, over all the pages that it shows: directive, address and sample. */
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

/** The page can be used by everybody, in light and in dark, and is no wider than the screen. */
export async function expectUsable(page: Page): Promise<void> {
  expect(await findBarriers(page, "structure")).toEqual([]);
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    await expect(page.locator("html")).toHaveClass(new RegExp(`\\b${colorScheme}\\b`));
    expect(await findBarriers(page, "colours"), colorScheme).toEqual([]);
  }
  const overflow = await page.evaluate(
    () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
  );
  expect(overflow).toBeLessThanOrEqual(0);
}

/** How large scripts are, compressed: most are of more pages than one. */
const sizes = new Map<string, Promise<number>>();

async function readSize(page: Page, source: string): Promise<number> {
  return gzipSync(await (await page.request.get(source)).body()).length;
}

/** The scripts that a page's HTML asks for are together no larger than what a page may load. */
export async function expectLight(page: Page, path: string): Promise<void> {
  const html = await (await page.request.get(path)).text();
  const tags = [...html.matchAll(/<script[^>]*\bsrc="([^"]+)"[^>]*>/g)];
  const sources = new Set(tags.filter(([tag]) => !/nomodule/i.test(tag)).map(([, source]) => source ?? ""));
  for (const source of sources) sizes.set(source, sizes.get(source) ?? readSize(page, source));
  const loaded = await Promise.all([...sources].map((source) => sizes.get(source) ?? 0));
  const bytes = loaded.reduce((sum, size) => sum + size, 0);
  expect(sources.size).toBeGreaterThan(0);
  expect(bytes).toBeLessThanOrEqual(maxScriptBytes);
}
