import type { Page } from "@playwright/test";
import { addChannel, crossing, judgeKeyRules, openReceiver, raiseLasting } from "@/tests/helpers/alerts";
import { signUp, workspaceId } from "./accounts";
import { expect, test } from "./fixtures";

// One of the channels is refused.
test.use({ mayBeRefused: true });

async function chooseAction(page: Page, name: string, action: string): Promise<void> {
  await page.getByRole("button", { name: `Actions for ${name}` }).click();
  await page.getByRole("menuitem", { name: action, exact: true }).click();
}

test("Adds a webhook, shows its secret once and sends a test that arrives; names a field that is wrong, and says why a test did not arrive", async ({
  page,
}) => {
  const receiver = await openReceiver();
  const { slug } = await signUp(page);
  await page.goto(`/${slug}/alerts`);
  await expect(page.getByText("Nothing needs attention", { exact: true })).toBeVisible();
  await page.getByRole("link", { name: "Rules and channels" }).click();
  await expect(page.getByText("No channel yet")).toBeVisible();
  await page.getByRole("button", { name: "Alerts", exact: true }).click();
  await expect(page.getByRole("dialog", { name: "Newest alerts" })).toContainText("Nothing has fired yet.");
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Add a channel" }).click();
  const dialog = page.getByRole("dialog", { name: "Add a channel" });
  await dialog.getByLabel("Kind").selectOption("Webhook");
  await dialog.getByLabel("Address").fill(`http://127.0.0.1:${receiver.port}/hook`);
  await dialog.getByLabel("Name").fill("Finance hook");
  await dialog.getByLabel("Which thresholds?").selectOption("From 80% on");
  await dialog.getByRole("button", { name: "Add the channel" }).click();
  const shown = page.getByRole("dialog", { name: "The signing secret of Finance hook" });
  await expect(shown.getByLabel("signing secret", { exact: true })).toHaveValue(/^whsec_/);
  await page.keyboard.press("Escape");
  await expect(shown.getByText("cannot be shown again")).toBeVisible();
  await shown.getByRole("button", { name: "I have stored it" }).click();
  await expect(page.getByRole("list", { name: "Channels" })).toContainText("Thresholds from 80% on");
  await chooseAction(page, "Finance hook", "Send a test");
  await expect(page.getByText("The test of Finance hook was delivered.")).toBeVisible();
  expect(receiver.received.map(({ body }) => JSON.parse(body).type)).toEqual(["alert.test"]);
  await chooseAction(page, "Finance hook", "Deliveries");
  const log = page.getByRole("dialog", { name: "Deliveries of Finance hook" });
  await expect(log.getByRole("listitem")).toContainText("delivered");
  await page.keyboard.press("Escape");
  await receiver.close();
  await chooseAction(page, "Finance hook", "Delete");
  await page.getByRole("button", { name: "Delete", exact: true }).click();
  await expect(page.getByText("No channel yet")).toBeVisible();

  await page.getByRole("button", { name: "Add a channel" }).click();
  await dialog.getByLabel("Kind").selectOption("Slack");
  await dialog.getByLabel("Webhook URL").fill("http://hooks.slack.com/services/x");
  await dialog.getByLabel("Name").fill("Chat");
  await dialog.getByRole("button", { name: "Add the channel" }).click();
  await expect(dialog.getByLabel("Webhook URL")).toHaveAttribute("aria-invalid", "true");
  await expect(dialog.getByRole("alert")).toContainText("https");
  await dialog.getByLabel("Webhook URL").fill("http://127.0.0.1:9/services/x");
  await dialog.getByRole("button", { name: "Add the channel" }).click();
  await chooseAction(page, "Chat", "Send a test");
  await expect(
    page.getByText("The test of Chat did not arrive. The host refused the connection."),
  ).toBeVisible();
});

test("Shows one entry a thing with its course and how sending it ended; takes, assigns, snoozes and resolves it, and undoes that", async ({
  page,
  world,
}) => {
  const { slug } = await signUp(page);
  const workspace = await workspaceId(world, slug);
  await addChannel(world.fixtures, workspace, {
    name: "Nobody there",
    address: "http://127.0.0.1:9/",
    target: "127.0.0.1:9",
  });
  await raiseLasting(
    world.fixtures,
    crossing(workspace, { level: "50", is_quiet: true }),
    crossing(workspace, { level: "80", details: { spent_usd: "80.010000000000000001" } }),
  );
  await world.fixtures.sql.query(
    `update public.deliveries set state = 'dead', lease = null, leased_until = null, last_error = 'The receiver answered 500.'
     where workspace_id = $1`,
    [workspace],
  );
  const { id } = await world.fixtures.key(workspace, { monthly_limit: "100" });
  await world.fixtures.sql.query(
    `insert into public.key_spend (workspace_id, api_key_id, month, amount_usd, message_count)
     values ($1, $2, date_trunc('month', now(), 'UTC'), 90.010000000000000001, 1)`,
    [workspace, id],
  );
  await judgeKeyRules(world.fixtures);
  await page.goto(`/${slug}/alerts`);
  const inbox = page.getByRole("list", { name: "Inbox" });
  const entryOf = (title: string) =>
    inbox.getByRole("article").filter({ has: page.getByRole("heading", { name: title }) });
  await expect(inbox.getByRole("article")).toHaveCount(2);
  const budget = entryOf("80% of the budget Everything is spent");
  await expect(budget.locator('[data-figure="spent_usd"][data-exact="80.010000000000000001"]')).toBeVisible();
  // It is unfolded, because something did not arrive.
  await expect(budget.getByRole("list", { name: "Course" })).toContainText(
    "Not sent: spend was above this threshold when the budget was set.",
  );
  await expect(budget).toContainText("Nobody there: not delivered. The receiver answered 500.");
  await expect(budget.getByRole("link", { name: "Open the budget" })).toBeVisible();
  await expect(budget.getByRole("link", { name: "Show what was spent" })).toHaveAttribute(
    "href",
    `/${slug}/activity?period=range&from=2026-11-01&to=2026-11-30&environment=live`,
  );
  await budget.getByRole("button", { name: "Send again: Nobody there" }).click();
  await expect(page.getByText("Sending again.")).toBeVisible();
  await expect(budget).toContainText(/is being sent|failed once/);

  const key = entryOf("The key Test key is near its monthly limit");
  await expect(key.locator('[data-figure="spent_usd"][data-exact="90.010000000000000001"]')).toBeVisible();
  await key.getByRole("button", { name: /^Assign to me/ }).click();
  await expect(key).toContainText("Assigned to you");
  await page.getByRole("link", { name: "Mine 1" }).click();
  await expect(inbox.getByRole("article")).toHaveCount(1);
  await chooseAction(page, "The key Test key is near its monthly limit", "Assign");
  const assign = page.getByRole("dialog", { name: "Assign" });
  await expect(assign.getByLabel("Who takes care of it?")).toBeFocused();
  await expect(assign.getByLabel("Who takes care of it?").locator("option:checked")).toContainText("Ada");
  await assign.getByLabel("Who takes care of it?").selectOption("Nobody");
  await assign.getByRole("button", { name: "Assign" }).click();
  await expect(page.getByText("Nothing here")).toBeVisible();
  await page.getByRole("link", { name: "All", exact: true }).click();
  await chooseAction(page, "The key Test key is near its monthly limit", "Snooze");
  await page.getByRole("dialog", { name: "Snooze Test key" }).getByRole("button", { name: "Snooze" }).click();
  await expect(inbox.getByRole("article")).toHaveCount(1);
  await page.getByRole("link", { name: "Snoozed 1" }).click();
  await expect(key).toContainText("Snoozed until");
  await chooseAction(page, "The key Test key is near its monthly limit", "End the snooze");
  await page.getByRole("link", { name: "Open 2" }).click();
  await expect(inbox.getByRole("article")).toHaveCount(2);

  // By the keyboard: the focus stays in the list.
  await key.getByRole("button", { name: /^Resolve/ }).focus();
  await page.keyboard.press("Enter");
  await expect(key).toHaveCount(0);
  await expect(budget.getByRole("button", { name: /^Resolve/ })).toBeFocused();
  await page.getByRole("button", { name: "Undo" }).click();
  await expect(key).toBeVisible();
  await key.getByRole("button", { name: /^Resolve/ }).click();
  await page.getByRole("link", { name: "Resolved" }).click();
  await expect(key).toContainText(/Resolved .* by /);
  await key.getByRole("button", { name: /^Open again/ }).click();
  await expect(page.getByText("Nothing here")).toBeVisible();
});

test("Turns a rule off, sets when it fires, and snoozes a subject", async ({ page, world }) => {
  const { slug } = await signUp(page);
  const workspace = await workspaceId(world, slug);
  const { id } = await world.fixtures.key(workspace, { monthly_limit: "100" });
  await world.fixtures.sql.query(
    `insert into public.key_spend (workspace_id, api_key_id, month, amount_usd, message_count)
     values ($1, $2, date_trunc('month', now(), 'UTC'), 90, 1)`,
    [workspace, id],
  );
  await judgeKeyRules(world.fixtures);
  await page.goto(`/${slug}/alerts/rules`);
  const rules = page.getByRole("list", { name: "Rules" });
  await expect(rules.getByText("A key has spent 80% of its monthly limit")).toBeVisible();
  await expect(rules.getByRole("list", { name: "Not OK: Key near its limit" })).toContainText("Test key");
  await rules.getByRole("button", { name: "Snooze Test key" }).click();
  await page.getByRole("dialog", { name: "Snooze Test key" }).getByRole("button", { name: "Snooze" }).click();
  await expect(rules.getByRole("list", { name: "Not OK: Key near its limit" })).toContainText(
    "snoozed until",
  );
  await rules.getByRole("button", { name: "End snooze of Test key" }).click();
  await expect(rules.getByRole("button", { name: "Snooze Test key" })).toBeVisible();
  await chooseAction(page, "Key near its limit", "Change when it fires");
  const dialog = page.getByRole("dialog", { name: "Key near its limit" });
  await dialog.getByLabel("Percent of the monthly limit").fill("95");
  await dialog.getByRole("button", { name: "Save" }).click();
  await expect(rules.getByText("A key has spent 95% of its monthly limit")).toBeVisible();
  await rules.getByRole("switch", { name: "Silent source" }).click();
  await expect(page.getByText("Silent source is off.")).toBeVisible();
  await expect(rules.getByRole("switch", { name: "Silent source" })).not.toBeChecked();
});
