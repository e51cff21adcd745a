import { addChannel } from "@/tests/helpers/alerts";
import { signUp, workspaceId } from "./accounts";
import { expect, test } from "./fixtures";
import { expectUsableAlsoOnPhone } from "./page-checks";

test("A Slack user is linked by the link of a message, and unlinked on the page You", async ({
  page,
  world,
}) => {
  const { slug } = await signUp(page);
  const id = await workspaceId(world, slug);
  const channel = await addChannel(world.fixtures, id, { kind: "slack", name: "Finance chat" });
  await world.fixtures.sql.query(
    `insert into private.slack_offers (workspace_id, channel_id, slack_team, slack_user, slack_name, hash, expires_at)
     values ($1, $2, 'T1', 'U1', 'ada in example', sha256(convert_to('of-the-page', 'utf8')), now() + interval '15 minutes')`,
    [id, channel],
  );
  await page.goto("/workspaces/slack?token=of-the-page");
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Link the Slack user ada in example?");
  await expectUsableAlsoOnPhone(page);
  await page.getByRole("button", { name: "I am ada in example: link" }).click();
  await expect(page.getByRole("status").filter({ hasText: "is linked to you" })).toBeVisible();
  await page.reload();
  await expect(page.getByText("This link was used")).toBeVisible();

  await page.goto(`/${slug}/me`);
  await expect(page.getByRole("list", { name: "Slack users" })).toContainText("Finance chat");
  await expectUsableAlsoOnPhone(page);
  await page.getByRole("button", { name: "Unlink ada in example" }).click();
  await expect(page.getByRole("list", { name: "Slack users" })).toBeHidden();
});
