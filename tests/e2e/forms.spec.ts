import { signUp } from "./accounts";
import { expect, test } from "./fixtures";

test.use({ mayBeRefused: true });

test("A refused form puts the focus on its first invalid field, at every attempt", async ({ page }) => {
  const { slug } = await signUp(page);
  await page.goto(`/${slug}/activity`);
  await page.getByRole("button", { name: "Add a cost" }).click();
  const dialog = page.getByRole("dialog", { name: "Add a cost" });
  const record = dialog.getByRole("button", { name: "Record" });
  const project = dialog.getByRole("combobox", { name: "Project" });
  const vendor = dialog.getByLabel("Paid to");
  await record.click();
  await expect(project).toHaveAttribute("aria-invalid", "true");
  await expect(project).toBeFocused();
  await project.fill("checkout");
  for (let attempt = 0; attempt < 2; attempt += 1) {
    await record.click();
    await expect(project).not.toHaveAttribute("aria-invalid");
    await expect(vendor).toBeFocused();
    await expect(vendor).toHaveAttribute("aria-invalid", "true");
  }

  await page.goto(`/${slug}/settings/members`);
  await page.getByRole("button", { name: "Invite someone" }).click();
  const email = page.getByLabel("Only for this e-mail address");
  await email.fill("nobody");
  await page.getByRole("button", { name: "Create the link" }).click();
  await expect(email).toBeFocused();
  await expect(email).toHaveAttribute("aria-invalid", "true");
});
