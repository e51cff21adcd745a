import { randomUUID } from "node:crypto";
import type { Page } from "@playwright/test";
import { fillSignIn, password } from "@/tests/e2e/accounts";
import { expect, test } from "@/tests/e2e/fixtures";
import { createConfirmed, projectOf } from "@/tests/helpers/hosted-sign-in";

// The identity provider's own pages may report errors of theirs.
test.use({ mayReportErrors: true });

const newName = () => `ada-${randomUUID().slice(0, 8)}`;

/** Begins at the sign-in page and signs in at the identity provider. */
async function continueAs(page: Page, name: string, next = ""): Promise<void> {
  await page.goto(`/sign-in${next}`);
  await page.getByRole("link", { name: "Continue with single sign-on" }).click();
  await page.locator("input[name=login]").fill(name);
  await page.locator("input[name=password]").fill("anything");
  await page.getByRole("button", { name: "Sign-in" }).click();
  await page.getByRole("button", { name: "Continue" }).click();
}

const isOurs = (url: URL) => !/protocol|interaction|auth\/v1/.test(url.pathname);

test("Brings somebody new to a workspace of their own, and to the same one the next time", async ({
  page,
  openPage,
}) => {
  const name = newName();
  await continueAs(page, name);
  await page.waitForURL((url) => isOurs(url) && !["/callback", "/workspaces"].includes(url.pathname));
  const me = await (await page.request.get("/api/v1/me")).json();
  expect(me.profile).toMatchObject({ email: `${name}@example.com`, display_name: name });
  const again = await openPage();
  await continueAs(again, name, "?next=%2Fworkspaces%3Fall");
  await again.waitForURL((url) => isOurs(url) && url.pathname !== "/callback");
  expect((await (await again.request.get("/api/v1/me")).json()).user.id).toBe(me.user.id);
});

test("Links an account that has the same confirmed address, whose password goes on working", async ({
  page,
  openPage,
  world,
}) => {
  const [name, project] = [newName(), projectOf(world.service.baseUrl)];
  const email = `${name}@example.com`;
  const id = project && (await createConfirmed(project, email, password));
  await continueAs(page, name);
  await page.waitForURL((url) => isOurs(url) && !["/callback", "/workspaces"].includes(url.pathname));
  expect((await (await page.request.get("/api/v1/me")).json()).user.id).toBe(id);
  const other = await openPage();
  await other.goto("/sign-in");
  await fillSignIn(other, email);
  await other.waitForURL((url) => !["/sign-in", "/workspaces"].includes(url.pathname));
});

test("Links no account to an address that the other service has not confirmed", async ({ page, world }) => {
  const [name, project] = [`unconfirmed-${newName()}`, projectOf(world.service.baseUrl)];
  if (project) await createConfirmed(project, `${name}@example.com`, password);
  await continueAs(page, name);
  await expect(page.getByText("Your address is not confirmed at the other service.")).toBeVisible();
  expect((await page.request.get("/api/v1/me")).status()).toBe(401);
});

test("Says so where the other service tells no address, or the person turns back", async ({
  page,
  openPage,
}) => {
  await continueAs(page, `nobody-${newName()}`);
  await expect(page.getByText("did not tell us your e-mail address")).toBeVisible();
  const other = await openPage();
  await other.goto("/sign-in?next=%2Fworkspaces%3Fall");
  await other.getByRole("link", { name: "Continue with single sign-on" }).click();
  await other.getByRole("link", { name: /cancel/i }).click();
  await expect(other.getByText("The other service did not sign you in.")).toBeVisible();
  expect(new URL(other.url()).searchParams.get("next")).toBe("/workspaces?all");
});

test("Leads to GitHub with the project's own address to return to", async ({ page, world }) => {
  const begun = await page.request.get("/sign-in/provider?provider=github", { maxRedirects: 0 });
  const asked = await fetch(begun.headers().location ?? "", { redirect: "manual" });
  const target = new URL(asked.headers.get("location") ?? "");
  expect(target.host).toBe("github.com");
  const project = projectOf(world.service.baseUrl);
  expect(target.searchParams.get("redirect_uri")).toBe(`${project?.url}/auth/v1/callback`);
});
