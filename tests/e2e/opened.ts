import type { Page } from "@playwright/test";
import { expect } from "./fixtures";

/** What is opened on a page of a workspace: dialogs, menus, unfolded parts and what a form says of its fields. */
export type Opened = {
  /** The path below the workspace. */
  path: string;
  /** The files under components that show it, without their ending. */
  files: string[];
  /** Opens one after another, each until the check of the next. */
  open: (page: Page, check: () => Promise<void>) => Promise<void>;
};

/** The first button with this name. */
export const button = (page: Page, name: string | RegExp) =>
  page.getByRole("button", typeof name === "string" ? { name, exact: true } : { name }).first();
/** Clicks it. */
export const click = (page: Page, name: string | RegExp) => button(page, name).click();

/** Chooses an item of a menu. */
export const choose = async (page: Page, name: string | RegExp, item: string | RegExp) => {
  await click(page, name);
  await page
    .getByRole("menuitem", { name: item })
    .or(page.getByRole("menuitemradio", { name: item }))
    .click();
};

/** Waits for a dialog. */
export const shown = (page: Page, role: "dialog" | "alertdialog", name?: string | RegExp) =>
  expect(page.getByRole(role, name === undefined ? {} : { name }).last()).toBeVisible();

/** Asserts that something has the focus, and not the page as a whole: what opened a dialog, after the dialog. */
const expectFocusKept = (page: Page) =>
  expect.poll(() => page.evaluate(() => document.activeElement !== document.body)).toBe(true);

/** Opens a question by a menu and closes it. */
export const ask = async (
  page: Page,
  check: () => Promise<void>,
  name: string | RegExp,
  item?: string | RegExp,
) => {
  await (item ? choose(page, name, item) : click(page, name));
  await shown(page, "alertdialog");
  await check();
  await page.keyboard.press("Escape");
  await expect(page.getByRole("alertdialog")).toBeHidden();
  await expectFocusKept(page);
};

/** Checks a dialog that opens, and closes it. */
export const inspect = async (page: Page, check: () => Promise<void>, name?: string | RegExp) => {
  await shown(page, "dialog", name);
  await check();
  await page.keyboard.press("Escape");
  await expectFocusKept(page);
};
