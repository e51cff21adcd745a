import { randomUUID } from "node:crypto";
import type { Browser, Page } from "@playwright/test";
import type { WorkspaceRole } from "@/lib/contract/me";
import type { World } from "./fixtures";

const password = "correct horse battery";

/** Signs somebody new up. @returns their address, and the slug of their own workspace */
export async function signUp(page: Page): Promise<{ email: string; slug: string }> {
  const email = `${randomUUID()}@example.com`;
  await page.goto("/sign-up");
  await page.getByLabel("Name").fill("Ada");
  await page.getByLabel("E-mail address").fill(email);
  await page.getByLabel("Password", { exact: true }).fill(password);
  await page.getByRole("button", { name: "Make an account" }).click();
  await page.waitForURL((url) => !url.pathname.startsWith("/sign-up"));
  return { email, slug: new URL(page.url()).pathname.slice(1) };
}

/** The id of a workspace. */
export async function workspaceId({ fixtures }: World, slug: string): Promise<string> {
  const { rows } = await fixtures.sql.query("select id from public.workspaces where slug = $1", [slug]);
  return rows[0].id;
}

/** Opens a browser for somebody new who has a role in a workspace. Close it with `page.context().close()`. */
export async function openAs(
  browser: Browser,
  world: World,
  slug: string,
  role: WorkspaceRole,
): Promise<Page> {
  const page = await (await browser.newContext({ baseURL: world.service.baseUrl })).newPage();
  const { email } = await signUp(page);
  await world.fixtures.sql.query(
    `insert into public.workspace_members (workspace_id, user_id, role)
     select w.id, p.id, $3 from public.workspaces as w, public.profiles as p where w.slug = $1 and p.email = $2`,
    [slug, email, role],
  );
  return page;
}
