import { fillSignIn, password, signUp, signUpByForm } from "./accounts";
import { expect, test } from "./fixtures";

test("Answers a form with the page that it redirects to, from this service itself", async ({ page }) => {
  let answered = { redirect: "", length: 0 };
  await page.route("**/sign-up", async (route) => {
    if (route.request().method() !== "POST") return route.continue();
    const response = await route.fetch();
    const redirect = response.headers()["x-action-redirect"] ?? "";
    answered = { redirect, length: (await response.body()).length };
    await route.fulfill({ response });
  });
  await signUpByForm(page);
  expect(answered.redirect).toMatch(/^\/workspaces/);
  // Next fetches that page from the address that it was told the service has; it answers with nothing where that fails.
  expect(answered.length).toBeGreaterThan(0);
});

test("Ends the session on sign-out, and starts none with a wrong password", async ({ page }) => {
  const { email, slug } = await signUp(page);
  // Not the overview: an empty one polls for the first message, which would be refused.
  await page.goto(`/${slug}/keys`);
  const menu = page.getByRole("button", { name: "Menu" });
  if (await menu.isVisible()) await menu.click();
  await page.getByRole("button", { name: "Account of Ada" }).click();
  await page.getByRole("menuitem", { name: "Sign out" }).click();
  await page.waitForURL((url) => !url.pathname.startsWith(`/${slug}`));
  await page.goto("/sign-in");
  await fillSignIn(page, email, "wrong horse");
  await expect(page.getByText("The e-mail address or the password is wrong")).toBeVisible();
  await page.getByLabel("Password", { exact: true }).fill(password);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.waitForURL(`**/${slug}`);
});
