import type { Page } from "@playwright/test";
import { crossing, raiseLasting } from "@/tests/helpers/alerts";
import { openAs, signUp, workspaceId } from "./accounts";
import { expect, test } from "./fixtures";
import { expectStill, expectUsable, watchLayout } from "./page-checks";

const bell = (page: Page) => page.getByRole("button", { name: /^Alerts(, \d+ new)?$/ });

test("Counts what is new, shows it and marks it as seen, without moving the page, and opens an alert by the keyboard", async ({
  page,
  world,
  openPage,
}) => {
  const { slug } = await signUp(page);
  const workspace = await workspaceId(world, slug);
  await raiseLasting(
    world.fixtures,
    crossing(workspace, { level: "50" }),
    crossing(workspace, { level: "100" }),
  );
  const viewer = await openAs(openPage, world, slug, "viewer");
  await raiseLasting(world.fixtures, crossing(workspace, { level: "120" }));
  await watchLayout(page);
  await page.goto(`/${slug}/keys`);
  await expect(bell(page)).toHaveAccessibleName("Alerts, 3 new");
  await expectStill(page);
  await bell(page).click();
  const list = page.getByRole("dialog", { name: "Newest alerts" });
  await expect(list.getByRole("listitem")).toHaveCount(3);
  await expect(
    list.getByRole("link", { name: /120% of the budget Everything is spent \(new\)/ }),
  ).toBeVisible();
  await expect(bell(page)).toHaveAccessibleName("Alerts");
  await page.keyboard.press("Escape");
  await expect(list).toBeHidden();
  await expect(bell(page)).toBeFocused();
  await page.reload();
  await expect(bell(page)).toHaveAccessibleName("Alerts");
  // What somebody else has seen stays new to others; what fired before they joined is not.
  await viewer.goto(`/${slug}`);
  await expect(bell(viewer)).toHaveAccessibleName("Alerts, 1 new");

  await bell(page).focus();
  await page.keyboard.press("Enter");
  await expect(list.getByRole("link", { name: /120% of the budget/ })).toBeVisible();
  await page.keyboard.press("Tab");
  await expect(list.getByRole("link", { name: "Show all" })).toBeFocused();
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await page.waitForURL(`**/${slug}/budgets#budget-*`);
  await expect(list).toBeHidden();
});

test("Chooses a weekly digest for a channel; turns the weekly report on for oneself, sends it now, and ends it by the page of its link", async ({
  page,
}) => {
  const { slug, email } = await signUp(page);
  await page.goto(`/${slug}/alerts/rules`);
  await page.getByRole("button", { name: "Add a channel" }).click();
  const dialog = page.getByRole("dialog", { name: "Add a channel" });
  await dialog.getByLabel("Addresses").fill(email);
  await dialog.getByLabel("Name").fill("Mondays");
  await dialog.getByLabel("When?").selectOption("As a weekly digest");
  await dialog.getByLabel("On", { exact: true }).selectOption("Friday");
  await dialog.getByLabel("At", { exact: true }).fill("16:30");
  await dialog.getByRole("button", { name: "Add the channel" }).click();
  await expect(page.getByRole("list", { name: "Channels" })).toContainText(
    /as a digest each Friday at 16:30, /,
  );
  await page.getByRole("button", { name: "Actions for Mondays" }).click();
  await page.getByRole("menuitem", { name: "Edit" }).click();
  const edit = page.getByRole("dialog", { name: "Edit Mondays" });
  await expect(edit.getByLabel("On", { exact: true })).toHaveValue("friday");
  await edit.getByLabel("When?").selectOption("At once");
  await edit.getByRole("button", { name: "Save" }).click();
  await expect(page.getByRole("list", { name: "Channels" })).not.toContainText("digest");

  const report = page.getByRole("switch", { name: "Mail me the weekly report" });
  await expect(report).not.toBeChecked();
  await report.click();
  await expect(page.getByText("You will receive the weekly report.")).toBeVisible();
  await expect(page.getByText(/The next one: .* which is Monday at 08:00 in/)).toBeVisible();
  await page.getByRole("button", { name: "Send me the last week now" }).click();
  await expect(page.getByText(`Last week's report was sent to ${email}.`)).toBeVisible();
  await page.goto(`/workspaces/unsubscribe?token=${"x".repeat(43)}`);
  await page.getByRole("button", { name: "Unsubscribe" }).click();
  await expect(page.getByText("You are unsubscribed.")).toBeVisible();
  await expectUsable(page);
  await page.goto("/workspaces/unsubscribe?token=short");
  await expect(page.getByText("This link is not complete.")).toBeVisible();
  await expect(page.getByRole("button", { name: "Unsubscribe" })).toHaveCount(0);
});
