import type { Locator, Page } from "@playwright/test";

/** The rows of the activity page: messages and, of those that are shown apart, their parts. */
export const rowsOf = (page: Page): Locator =>
  page.getByRole("table", { name: "Activity" }).locator("[data-row]");
