import { expect, test } from "./fixtures";
import { expectStill, watchLayout } from "./page-checks";
import { startSlowProxy } from "./proxy";
import { signUpWithSpend } from "./spend";

test("Moves nothing while a page's HTML arrives in pieces", { tag: "@phone" }, async ({ page, world }) => {
  const { slug } = await signUpWithSpend(page, world);
  const proxy = await startSlowProxy(world.service.baseUrl, 1_024);
  await watchLayout(page);
  for (const path of ["", "/projects/checkout", "/activity", "/keys"]) {
    await page.goto(`${proxy.baseUrl}/${slug}${path}`);
    await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
    await expectStill(page);
  }
  proxy.stop();
});
