import type { Page } from "@playwright/test";
import { authorizeUrl, makePkce, postForm, registerClient } from "@/tests/helpers/oauth";
import { signUp } from "./accounts";
import { expect, test, type World } from "./fixtures";
import { readPage } from "./html";
import { startProgram } from "./program";

/** Connects an assistant for the user signed in on the page. @returns its access token */
async function connect(page: Page, { service: { baseUrl } }: World, name: string): Promise<string> {
  const { redirectUri, stop } = await startProgram();
  const clientId = await registerClient(baseUrl, { client_name: name, redirect_uris: [redirectUri] });
  const { verifier, challenge } = makePkce();
  const asked = { redirect_uri: redirectUri, scope: "log_usage read_summaries" };
  await page.goto(authorizeUrl(baseUrl, clientId, challenge, asked));
  await page.getByRole("button", { name: /allow|let/i }).click();
  await page.waitForURL(`${redirectUri}*`);
  stop();
  const { body } = await postForm(baseUrl, "/oauth/token", {
    grant_type: "authorization_code",
    code: new URL(page.url()).searchParams.get("code") ?? "",
    client_id: clientId,
    redirect_uri: redirectUri,
    code_verifier: verifier,
  });
  return String(body.access_token);
}

/** Records a cost as the assistant. @returns the status of the answer */
async function recordAs(token: string, { service: { baseUrl } }: World): Promise<number> {
  const params = {
    name: "log_usage",
    arguments: {
      project: "checkout",
      provider: "openai",
      unit_type: "requests",
      quantity: 1,
      estimated_cost: 0.75,
    },
  };
  const { status } = await fetch(`${baseUrl}/api/mcp`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${token}`,
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params }),
  });
  return status;
}

test("Says without connections how to connect each assistant, with this service's address", async ({
  request,
  world,
}) => {
  const { slug } = await signUp({ request });
  const { html, text } = await readPage(request, `/${slug}/connections`);
  expect(text).toContain("No assistant is connected");
  const [tabs = "", ...panels] = html
    .split('role="tabpanel"')
    .map((part) => part.replaceAll(/<[^>]*>/g, " "));
  for (const name of ["Claude Code", "Claude", "Cursor", "VS Code", "ChatGPT", "Others"])
    expect(tabs).toContain(` ${name} `);
  expect(panels).toHaveLength(6);
  const address = `${world.service.baseUrl}/api/mcp`;
  for (const panel of panels) expect(panel.replaceAll(/\s/g, "")).toContain(address);
});

test("Lists an assistant's permissions and spend, and disconnects it at once", async ({ page, world }) => {
  const { slug } = await signUp(page);
  const token = await connect(page, world, "Desk assistant");
  expect(await recordAs(token, world)).toBe(200);
  await page.goto(`/${slug}/connections`);
  const row = page.getByRole("rowgroup").filter({ hasText: "Desk assistant" });
  await expect(row).toContainText("May log usage and read summaries in every project.");
  await expect(row.locator('[data-figure="spent"]')).toHaveAttribute("data-exact", "0.75");
  await expect(row).toContainText("just now");
  await row.getByRole("button", { name: "Disconnect Desk assistant of Ada" }).click();
  const question = page.getByRole("alertdialog", { name: "Disconnect Desk assistant?" });
  await expect(question).toContainText("It was last used just now and recorded $0.75 this month.");
  await expect(question).toContainText("This cannot be undone");
  await question.getByRole("button", { name: "Disconnect" }).click();
  await expect(page.getByText("No assistant is connected")).toBeVisible();
  await expect(page.getByRole("region", { name: "Connected assistants" })).toBeFocused();
  expect(await recordAs(token, world)).toBe(401);
});
