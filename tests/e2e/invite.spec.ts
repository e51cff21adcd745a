import { randomUUID } from "node:crypto";
import { apiClient, signUpUser } from "@/tests/helpers/client";
import { fillSignIn, fillSignUp } from "./accounts";
import { expect, test, type World } from "./fixtures";
import { expectUsable } from "./page-checks";

/** A workspace and an invitation link to it. */
async function invite({ service }: World, offer: Record<string, unknown>) {
  const host = await signUpUser(service.baseUrl);
  const name = `Team ${randomUUID().slice(0, 8)}`;
  const made = await host.call("POST", "/api/v1/workspaces", { name });
  const { body } = await host.call("POST", `/api/v1/workspaces/${made.body.slug}/invitations`, offer);
  return { host, name, slug: String(made.body.slug), path: new URL(String(body.link)).pathname };
}

test("Brings a new person to an account and into the workspace, once", async ({ page, world }) => {
  const { name, slug, path, host } = await invite(world, { role: "viewer" });
  await page.goto(path);
  await expect(page.getByRole("heading", { name: "You are invited" })).toBeVisible();
  // By way of the sign-up page: the return address must survive the change of page.
  await page.getByRole("link", { name: "Sign in" }).click();
  await page.getByRole("link", { name: "Create one" }).click();
  await fillSignUp(page, "Grace");
  await expect(page.getByRole("heading", { name: `Join ${name} as viewer` })).toBeVisible();
  await expect(page.getByText(host.email)).toBeVisible();
  await expectUsable(page);
  await page.getByRole("button", { name: `Join ${name}` }).click();
  await page.waitForURL(`**/${slug}`);
  await page.goto(path);
  await expect(page.getByRole("heading", { name: "This invitation is no longer valid" })).toBeVisible();
});

test("Explains an invitation for another address and offers to sign in with it", async ({ page, world }) => {
  const guest = await signUpUser(world.service.baseUrl);
  const { name, slug, path } = await invite(world, { role: "member", email: guest.email });
  await page.goto(`/sign-up?next=${encodeURIComponent(path)}`);
  await fillSignUp(page, "Grace");
  await expect(page.getByText(`This invitation is only for ${guest.email}`)).toBeVisible();
  await page.getByRole("button", { name: "Sign in with another address" }).click();
  await fillSignIn(page, guest.email);
  await page.getByRole("button", { name: `Join ${name}` }).click();
  await page.waitForURL(`**/${slug}`);
  const { body } = await apiClient(world.service.baseUrl, guest.token).get(`/api/v1/workspaces/${slug}/org`);
  expect(body).toMatchObject({ workspace: { role: "member" } });
  await page.goto(path);
  await expect(page.getByRole("heading", { name: "This invitation is no longer valid" })).toBeVisible();
});
