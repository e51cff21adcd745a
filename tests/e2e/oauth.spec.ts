import type { Page } from "@playwright/test";
import { lastWorkspaceCookie } from "@/components/shell/last-workspace";
import { makeClient, must, somePassword } from "@/tests/helpers/auth-server";
import { codeOf, enrolAuthenticator } from "@/tests/helpers/authenticator";
import { signUpUser } from "@/tests/helpers/client";
import { authorizeUrl, callTool, makePkce, postForm, registerClient } from "@/tests/helpers/oauth";
import { fillSignIn, fillSignUp, mailTo, signUp as signUpAs } from "./accounts";
import { expect, test, type World } from "./fixtures";
import { startProgram } from "./program";

async function signUp(page: Page): Promise<void> {
  await page.getByRole("link", { name: "Create one" }).click();
  await fillSignUp(page);
}

test("Lets a new person sign up and connect a program, which works as they allowed", async ({
  page,
  world,
}) => {
  const { baseUrl } = world.service;
  const program = await startProgram();
  const clientId = await registerClient(baseUrl, {
    client_name: "Claude Code",
    redirect_uris: [program.redirectUri],
  });
  const { verifier, challenge } = makePkce();
  const scope = "log_usage add_expenses read_summaries";
  await page.goto(authorizeUrl(baseUrl, clientId, challenge, { redirect_uri: program.redirectUri, scope }));
  await expect(page).toHaveURL(/\/sign-in\?next=/);
  await signUp(page);

  await expect(page.getByRole("heading", { name: "Connect “Claude Code” to Outlay?" })).toBeVisible();
  await expect(page.getByText("It is not verified")).toBeVisible();
  await expect(page.getByText(new URL(program.redirectUri).host)).toBeVisible();
  await expect(page.getByLabel("Read spend")).toBeChecked();
  await expect(page.getByLabel("Add expenses")).not.toBeChecked();
  await page.getByLabel("Record usage").check();
  await expect(page.getByLabel("Read spend")).toBeDisabled();
  await page.getByLabel("Monthly limit, USD").fill("25");
  await expect(
    page.getByText("May log usage and read summaries in every project, up to $25 a month."),
  ).toBeVisible();

  await page.getByRole("button", { name: "Allow" }).press("Enter");
  await page.waitForURL(`${program.redirectUri}?**`);
  const answer = new URL(page.url()).searchParams;
  expect(answer.get("state")).toBe("a state");
  expect(answer.get("iss")).toBe(baseUrl);
  const { body } = await postForm(baseUrl, "/oauth/token", {
    grant_type: "authorization_code",
    code: answer.get("code") ?? "",
    client_id: clientId,
    redirect_uri: program.redirectUri,
    code_verifier: verifier,
  });
  expect(body.scope).toBe("log_usage read_summaries");
  expect((await callTool(baseUrl, body.access_token)).status).toBe(200);
  const expense = { project: "checkout", vendor: "Figma", amount: 1 };
  expect((await callTool(baseUrl, body.access_token, "add_expense", expense)).status).toBe(403);
  program.stop();
});

/** The ways from the sign-in page, which a signed-out person is sent to, back to the question. */
const ways: Record<string, (page: Page, world: World, email: string) => Promise<void>> = {
  "with a password": (page, _, email) => fillSignIn(page, email),
  "with a second factor": async (page, { service }, email) => {
    const client = makeClient(service.baseUrl);
    must(await client.auth.signInWithPassword({ email, password: somePassword }));
    const { secret } = await enrolAuthenticator(client);
    await fillSignIn(page, email);
    const code = page.getByRole("textbox", { name: "Code", exact: true });
    await code.fill(codeOf(secret));
    await code.press("Enter");
  },
  "by a link in a mail": async (page, world, email) => {
    await page.getByRole("link", { name: "a link sent to you" }).click();
    await expect(page.getByRole("heading", { name: "Sign in by link" })).toBeVisible();
    await page.getByLabel("E-mail address").fill(email);
    await page.getByRole("button", { name: "Send the link" }).click();
    await expect(page.getByText("a link is on its way")).toBeVisible();
    await page.goto((await mailTo(world, email)).link);
  },
};

for (const [way, signIn] of Object.entries(ways)) {
  test(`Connects a program for somebody who signs in ${way}`, async ({ page, world }) => {
    const { baseUrl } = world.service;
    const { email } = await signUpUser(baseUrl);
    const program = await startProgram();
    const clientId = await registerClient(baseUrl, { redirect_uris: [program.redirectUri] });
    const { challenge } = makePkce();
    await page.goto(authorizeUrl(baseUrl, clientId, challenge, { redirect_uri: program.redirectUri }));
    await expect(page).toHaveURL(/\/sign-in\?next=/);
    await signIn(page, world, email);
    await page.getByRole("button", { name: "Allow" }).click();
    await page.waitForURL(`${program.redirectUri}?**`);
    expect(new URL(page.url()).searchParams.get("code")).toBeTruthy();
    program.stop();
  });
}

test("Proposes the workspace that was used last in this browser", async ({ page, world }) => {
  const { baseUrl } = world.service;
  const { slug } = await signUpAs(page);
  const made = await page.request.post("/api/v1/workspaces", {
    headers: { origin: baseUrl },
    data: { name: "Zebra" },
  });
  const zebra = (await made.json()).slug;
  const clientId = await registerClient(baseUrl);
  for (const used of [zebra, slug]) {
    await page.goto(`/${used}/projects`);
    await expect(async () => {
      expect((await page.context().cookies()).find(({ name }) => name === lastWorkspaceCookie)?.value).toBe(
        used,
      );
    }).toPass();
    await page.goto(authorizeUrl(baseUrl, clientId, makePkce().challenge));
    await expect(page.getByLabel("Workspace")).toHaveValue(used);
  }
});

test("Tells the program when consent is denied", async ({ page, world }) => {
  const { baseUrl } = world.service;
  const program = await startProgram();
  const clientId = await registerClient(baseUrl, { redirect_uris: [program.redirectUri] });
  await page.goto(
    authorizeUrl(baseUrl, clientId, makePkce().challenge, { redirect_uri: program.redirectUri }),
  );
  await signUp(page);
  await page.getByRole("button", { name: "Deny" }).click();
  await page.waitForURL(`${program.redirectUri}?**`);
  expect(new URL(page.url()).searchParams.get("error")).toBe("access_denied");
  program.stop();
});

test("Explains an untrusted program and redirects nobody to it", async ({ page, world }) => {
  const { baseUrl } = world.service;
  const clientId = await registerClient(baseUrl);
  await page.goto(
    authorizeUrl(baseUrl, clientId, makePkce().challenge, { redirect_uri: "https://evil.example/callback" }),
  );
  await signUp(page);
  await expect(page.getByRole("heading", { name: "This program cannot be connected" })).toBeVisible();
  await expect(page.getByText("an address that it did not register")).toBeVisible();
});
