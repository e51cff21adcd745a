import type { Page } from "@playwright/test";
import { exportSpans, readCapture } from "@/tests/helpers/otlp";
import { signUp, workspaceId } from "./accounts";
import { expect, test, type World } from "./fixtures";
import { expectUsable } from "./page-checks";

/** The text of a block to paste, as it is copied. */
async function readBlock(page: Page, title: string): Promise<string> {
  return (await page.getByRole("group", { name: title }).textContent()) ?? "";
}

/** Sends an export as a program does that was set up with the lines of the page. */
async function send(
  lines: Record<string, string>,
  { signal, body }: { signal: string; body: unknown },
): Promise<Response> {
  const [name = "", value = ""] = (lines.OTEL_EXPORTER_OTLP_HEADERS ?? "").split(/=(.*)/s);
  return fetch(`${lines.OTEL_EXPORTER_OTLP_ENDPOINT}/v1/${signal}`, {
    method: "POST",
    headers: { [name]: value, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
}

/** A new user with a workspace and a source for Claude Code in the project `checkout`. */
async function addClaudeCode(page: Page, world: World) {
  const { slug } = await signUp(page);
  const workspace = await workspaceId(world, slug);
  await world.fixtures.project(workspace, "checkout");
  await page.goto(`/${slug}/sources`);
  await page.getByRole("link", { name: "Add a source" }).click();
  await page.getByText("On your own machine, by user settings.").click();
  await page.getByLabel("What is its name?").fill("Laptop");
  await page.getByText("Only some").click();
  await page.getByLabel("Allowed projects").click();
  await page.getByRole("option", { name: "checkout" }).click();
  await page.getByRole("button", { name: "Make the key" }).click();
  const secret = await page.getByLabel("secret", { exact: true }).inputValue();
  const { env } = JSON.parse(await readBlock(page, "~/.claude/settings.json"));
  return { slug, workspace, secret, env: env as Record<string, string> };
}

test("Adds a source, and shows the first record of what is sent by the lines on the page", async ({
  page,
  world,
}) => {
  const { slug, secret, env } = await addClaudeCode(page, world);
  expect(env.OTEL_EXPORTER_OTLP_HEADERS).toBe(`Authorization=Bearer ${secret}`);
  await expect(page.getByText("Waiting for the first record")).toBeVisible();
  await page.evaluate(() => Object.assign(window, { isSamePage: true }));
  expect((await send(env, readCapture("claude-code-logs"))).status).toBe(200);
  await expect(page.getByText("First record received: claude-code, claude-opus-4-8, $")).toBeVisible();
  expect(await page.evaluate(() => "isSamePage" in window)).toBe(true);
  const amount = await page.locator('[data-figure="amount_usd"]').getAttribute("data-exact");
  expect(Number(amount)).toBeGreaterThan(0);
  await expectUsable(page);
  await page.getByRole("link", { name: "Show the records" }).click();
  await expect(page).toHaveURL(new RegExp(`/${slug}/activity`));
  await expect(page.getByText("claude-opus-4-8").first()).toBeVisible();
  await page.goto(`/${slug}/sources`);
  await expect(page.getByText("One source sent something in the last 24 hours.")).toBeVisible();
  await page.getByRole("link", { name: "Laptop" }).click();
  await expect(page.getByRole("table", { name: "What came in" })).toContainText("claude-code");
  await expect(page.getByRole("region", { name: "Outcomes" })).toContainText("1 call recorded.");
  await expect(page.getByText(secret)).toHaveCount(0);
});

test("Records what was refused after the key was widened, once", async ({ page, world }) => {
  const { slug, workspace, env } = await addClaudeCode(page, world);
  const attributes = {
    "gen_ai.operation.name": "chat",
    "gen_ai.provider.name": "openai",
    "gen_ai.response.model": "gpt-4o",
    "gen_ai.response.id": "chatcmpl-of-a-journey-0001",
    "gen_ai.usage.input_tokens": 1000,
    project: "payroll",
  };
  const refused = exportSpans([{ id: "1", attributes }]);
  await send(env, refused);
  await expect(page.getByText("1 record was refused.")).toBeVisible();
  await page.getByRole("link", { name: "See what was refused" }).click();
  await expect(
    page.getByRole("listitem").filter({ hasText: "may not use the project payroll" }),
  ).toBeVisible();
  await page.getByRole("button", { name: "Send 1 record again" }).click();
  await expect(page.getByText("1 record refused again.")).toBeVisible();
  await expectUsable(page);

  await page.goto(`/${slug}/keys`);
  await page.getByRole("button", { name: "Actions for Laptop" }).click();
  await page.getByRole("menuitem", { name: "Edit" }).click();
  const sheet = page.getByRole("dialog", { name: "Edit Laptop" });
  await sheet.getByText("Every project").click();
  await sheet.getByRole("button", { name: "Save" }).click();
  await expect(sheet).toBeHidden();

  await page.goto(`/${slug}/sources`);
  await page.getByRole("link", { name: "Laptop" }).click();
  await page.getByRole("button", { name: "Send 1 record again" }).click();
  await expect(page.getByText("1 record recorded.")).toBeVisible();
  await expect(page.getByRole("button", { name: /Send .* again/ })).toHaveCount(0);
  await send(env, refused);
  const { rows } = await world.fixtures.sql.query(
    "select p.slug from public.messages as m join public.projects as p on p.id = m.project_id where m.workspace_id = $1 and m.part = 0",
    [workspace],
  );
  expect(rows).toEqual([{ slug: "payroll" }]);
});

test("Asks whether a subscription covers a program's usage, and says what its projects are for", async ({
  page,
}) => {
  const { slug } = await signUp(page);
  await page.goto(`/${slug}/sources/new`);
  await page.getByText("OpenAI's Codex CLI.").click();
  await expect(page.getByRole("group", { name: "Which projects may it use?" })).toBeVisible();
  await expect(page.getByText("This is a permission, not a destination.")).toBeVisible();
  await page.getByLabel("A subscription covers it").check();
  await page.getByRole("button", { name: "Make the key" }).click();
  await expect(page.getByText("Codex does not report the service tier of a call")).toBeVisible();
  await page.goto(`/${slug}/sources`);
  await page.getByRole("link", { name: "Codex" }).click();
  await expect(page.getByLabel("A subscription covers it")).toBeChecked();
  await page.goto(`/${slug}/sources/new`);
  await page.getByText("Vercel's SDK for TypeScript.").click();
  await expect(page.getByLabel("A subscription covers it")).toHaveCount(0);
});

test.describe(() => {
  test.use({ mayBeRefused: true });
  test("Changes how what a source sends is attributed, and shows which setting the service refuses", async ({
    page,
    world,
  }) => {
    const { slug, env } = await addClaudeCode(page, world);
    await page.goto(`/${slug}/sources`);
    await page.getByRole("link", { name: "Laptop" }).click();
    await page.getByLabel("Feature from the attribute").fill("gen_ai.prompt");
    await page.getByRole("button", { name: "Save" }).click();
    await expect(page.getByText("May hold prompts, answers or secrets")).toBeVisible();
    await expect(page.getByLabel("Feature from the attribute")).toBeFocused();
    await page.getByRole("button", { name: "Remove gen_ai.prompt" }).click();
    await page.getByLabel("Feature from the attribute").fill("acme.screen");
    await page.getByLabel("Default feature").fill("other");
    await page.getByRole("button", { name: "Add a tag" }).click();
    await page.getByLabel("A subscription covers it").check();
    await page.getByRole("button", { name: "Save" }).click();
    await expect(page.getByText("The settings apply to the next export.")).toBeVisible();
    await send(env, readCapture("claude-code-logs"));
    await expect(page.getByRole("table", { name: "What came in" })).toContainText("included");
    await page.reload();
    await expect(page.getByLabel("Default feature")).toHaveValue("other");
    await expect(page.getByLabel("Attribute of tag 1")).toHaveValue("team");
  });
});
