import { randomUUID } from "node:crypto";
import type { Browser, Page } from "@playwright/test";
import type { World } from "./fixtures";

export const password = "correct horse battery";

/** Somebody new, with a personal workspace. */
export type Account = { email: string; slug: string };

/** Signs somebody new up; the page ends on the overview of their workspace. */
export async function signUp(page: Page, name = "Ada"): Promise<Account> {
  const email = `${randomUUID()}@example.com`;
  await page.goto("/sign-up");
  await page.getByLabel("Name").fill(name);
  await page.getByLabel("E-mail address").fill(email);
  await page.getByLabel("Password", { exact: true }).fill(password);
  await page.getByRole("button", { name: "Make an account" }).click();
  await page.waitForURL((url) => !["/sign-up", "/workspaces"].includes(url.pathname));
  return { email, slug: new URL(page.url()).pathname.slice(1) };
}

/** The id of a workspace. */
export async function workspaceId({ fixtures }: World, slug: string): Promise<string> {
  const { rows } = await fixtures.sql.query("select id from public.workspaces where slug = $1", [slug]);
  return rows[0].id;
}

/** Makes somebody a member of a workspace with a role, or changes the role they have. */
export async function setRole({ fixtures }: World, slug: string, email: string, role: string): Promise<void> {
  await fixtures.sql.query(
    `insert into public.workspace_members (workspace_id, user_id, role)
     select w.id, p.id, $3 from public.workspaces as w, public.profiles as p where w.slug = $1 and p.email = $2
     on conflict (workspace_id, user_id) do update set role = excluded.role`,
    [slug, email, role],
  );
}

/** Opens a browser for somebody new who has a role in a workspace. Close it with `page.context().close()`. */
export async function openAs(browser: Browser, world: World, slug: string, role: string): Promise<Page> {
  const page = await (await browser.newContext({ baseURL: world.service.baseUrl })).newPage();
  const { email } = await signUp(page);
  await setRole(world, slug, email, role);
  return page;
}
