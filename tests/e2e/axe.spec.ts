import { findBarriers } from "./axe";
import { expect, test } from "./fixtures";

test("Finds unreadable text on a page whose other text looks as on pages before", async ({ page }) => {
  const readable = "<p>The text of every page</p>".repeat(6);
  for (const _ of [1, 2]) {
    await page.setContent(`<main>${readable}</main>`);
    expect(await findBarriers(page, "present colours")).toEqual([]);
  }
  await page.setContent(`<main>${readable}<p style="color: #ccc">Pale</p></main>`);
  expect(await findBarriers(page, "present colours")).toEqual([
    expect.stringMatching(/^color-contrast: .*Pale/),
  ]);
  await page.setContent(`<main style="background: #444">${readable}</main>`);
  expect(await findBarriers(page, "present colours")).toEqual([expect.stringMatching(/^color-contrast: /)]);
});

test("Finds text that is unreadable in the other theme only, and leaves the page as it was", async ({
  page,
}) => {
  await page.setContent(
    `<html class="light"><style>
      p { transition: color 1s } .light { background: #fff } .dark { background: #222 } .dark p { color: #333 }
    </style><main><p>Dim</p></main></html>`,
  );
  const look = () =>
    page.evaluate(() => {
      const { className, style } = document.documentElement;
      return [className, style.colorScheme, document.adoptedStyleSheets.length];
    });
  const before = await look();
  expect(await findBarriers(page, "present colours")).toEqual([]);
  for (const _ of [1, 2])
    expect(await findBarriers(page, "colours")).toEqual([
      expect.stringMatching(/^color-contrast: .*Dim.* \(dark\)$/),
    ]);
  expect(await look()).toEqual(before);
});

test("Finds text that stays unreadable as often as it is checked", async ({ page }) => {
  await page.setContent('<main><p style="color: #ccc">Pale</p></main>');
  for (const _ of [1, 2, 3, 4, 5, 6, 7]) {
    expect(await findBarriers(page, "present colours")).toEqual([expect.stringMatching(/^color-contrast: /)]);
  }
});

test("Checks a modal dialog that is open, and not the page behind it, which is inert", async ({ page }) => {
  await page.setContent(
    `<main><button></button><p style="color: #ccc">Behind</p></main>
     <dialog aria-label="Question"><button></button><p style="color: #ccc">Within</p></dialog>`,
  );
  await page.evaluate(() => document.querySelector("dialog")?.showModal());
  expect(await findBarriers(page, "present colours")).toEqual([
    expect.stringMatching(/^color-contrast: .*Within/),
  ]);
  expect(await findBarriers(page, "structure")).toEqual([expect.stringMatching(/^button-name: /)]);
  await page.evaluate(() => document.querySelector("dialog")?.close());
  expect(await findBarriers(page, "present colours")).toEqual([
    expect.stringMatching(/^color-contrast: .*Behind/),
  ]);
});

test("Checks a popover that is open, and not the page beneath it, which is checked without it", async ({
  page,
}) => {
  await page.setContent(
    `<main><button></button><p style="color: #ccc">Beneath</p></main>
     <div popover aria-label="Menu"><input><p style="color: #ccc">Within</p></div>`,
  );
  await page.evaluate(() => document.querySelector<HTMLElement>("[popover]")?.showPopover());
  expect(await findBarriers(page, "present colours")).toEqual([
    expect.stringMatching(/^color-contrast: .*Within/),
  ]);
  expect(await findBarriers(page, "structure")).toEqual([expect.stringMatching(/^label: /)]);
  await page.evaluate(() => document.querySelector<HTMLElement>("[popover]")?.hidePopover());
  expect(await findBarriers(page, "present colours")).toEqual([
    expect.stringMatching(/^color-contrast: .*Beneath/),
  ]);
});
