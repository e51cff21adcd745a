import type { Browser, Page } from "@playwright/test";
import { setRole, signUp } from "./accounts";
import type { World } from "./fixtures";

/** Opens a browser for somebody new who has a role in a workspace. Close it with `page.context().close()`. */
export async function openAs(browser: Browser, world: World, slug: string, role: string): Promise<Page> {
  const page = await (await browser.newContext({ baseURL: world.service.baseUrl })).newPage();
  const { email } = await signUp(page);
  await setRole(world, slug, email, role);
  return page;
}
