import { randomUUID } from "node:crypto";
import { expect, type Page } from "@playwright/test";
import { signUpUser } from "@/tests/helpers/client";
import { projectMailsTo, projectOf, type SentMail, type TestProject } from "@/tests/helpers/hosted-sign-in";
import type { OpenPage, World } from "./fixtures";

export const password = "correct horse battery";

/** A new user with a personal workspace. */
export type Account = { email: string; slug: string };

/** An address without an account. */
const newEmail = () => `${randomUUID()}@example.com`;

/**
 * Signs a new user up by sending the form as a browser without scripts does. The page is signed in then, and has
 * opened nothing. `signUpByForm` does it as a person does.
 */
export async function signUp(page: Pick<Page, "request">, name = "Ada"): Promise<Account> {
  const form = await page.request.get("/sign-up");
  const action = [
    ...(await form.text()).matchAll(/<input type="hidden" name="([^"]+)"(?: value="([^"]*)")?/g),
  ];
  const hidden = action.map(([, field = "", value = ""]) => [field, value.replaceAll("&quot;", '"')]);
  const email = newEmail();
  const answer = await page.request.post("/sign-up", {
    headers: { origin: new URL(form.url()).origin },
    multipart: { ...Object.fromEntries(hidden), name, email, password },
    maxRedirects: 0,
  });
  const project = projectOf(new URL(form.url()).origin);
  expect(answer.status(), "somebody new is signed up").toBe(project ? 200 : 303);
  if (project) await page.request.get((await confirmation(project, email)).link ?? "", { maxRedirects: 5 });
  let slug = "";
  // A busy service may answer 503.
  await expect(async () => {
    const me = await page.request.get("/api/v1/me");
    expect(me.status(), await me.text()).toBe(200);
    slug = (await me.json()).workspaces[0].slug;
  }).toPass({ timeout: 30_000 });
  return { email, slug };
}

/** The mail by which a project has a new address confirmed. */
async function confirmation(project: TestProject, email: string): Promise<SentMail> {
  const [mail] = await projectMailsTo(project, email);
  if (!mail) throw new Error(`There is no mail to ${email}.`);
  return mail;
}

/** Fills in and sends the page's sign-up form; with a project, opens the link of its mail too. */
export async function fillSignUp(page: Page, name = "Ada"): Promise<void> {
  const email = newEmail();
  await page.getByLabel("Name").fill(name);
  await page.getByLabel("E-mail address").fill(email);
  await page.getByLabel("Password", { exact: true }).fill(password);
  await page.getByRole("button", { name: "Create an account" }).click();
  const project = projectOf(new URL(page.url()).origin);
  if (!project) return;
  await expect(page.getByText(`We sent a link to ${email}.`)).toBeVisible();
  await page.goto((await confirmation(project, email)).link ?? "");
}

/** Signs a new user up as a person does; the page ends on the overview of their workspace. @returns its slug */
export async function signUpByForm(page: Page): Promise<string> {
  await page.goto("/sign-up");
  await fillSignUp(page);
  await page.waitForURL((url) => !["/sign-up", "/workspaces"].includes(url.pathname));
  return new URL(page.url()).pathname.slice(1);
}

/** Fills in and sends the page's sign-in form. */
export async function fillSignIn(page: Page, email: string, typed = password): Promise<void> {
  await page.getByLabel("E-mail address").fill(email);
  await page.getByLabel("Password", { exact: true }).fill(typed);
  await page.getByRole("button", { name: "Sign in" }).click();
}

/** The id of a workspace. */
export async function workspaceId({ fixtures }: World, slug: string): Promise<string> {
  const { rows } = await fixtures.sql.query("select id from public.workspaces where slug = $1", [slug]);
  return rows[0].id;
}

/** Adds a user to a workspace with a role, or changes their role. */
export async function setRole({ fixtures }: World, slug: string, email: string, role: string): Promise<void> {
  await fixtures.sql.query(
    `insert into public.workspace_members (workspace_id, user_id, role)
     select w.id, p.id, $3 from public.workspaces as w, public.profiles as p where w.slug = $1 and p.email = $2
     on conflict (workspace_id, user_id) do update set role = excluded.role`,
    [slug, email, role],
  );
}

/** Gives the owner of a workspace another role. Somebody new becomes its owner, because every workspace has one. */
export async function demote(world: World, { slug, email }: Account, role: string): Promise<void> {
  const { email: owner } = await signUpUser(world.service.baseUrl);
  await setRole(world, slug, owner, "owner");
  await setRole(world, slug, email, role);
}

/** Opens a browser for a new user with a role in a workspace. */
export async function openAs(openPage: OpenPage, world: World, slug: string, role: string): Promise<Page> {
  const page = await openPage();
  const { email } = await signUp(page);
  await setRole(world, slug, email, role);
  return page;
}

/** The link and the code of the latest mail to an address. */
export async function mailTo(
  { fixtures, service }: World,
  email: string,
): Promise<{ link: string; code: string }> {
  const project = projectOf(service.baseUrl);
  if (project) {
    const [mail] = await projectMailsTo(project, email);
    return { link: mail?.link ?? "", code: mail?.code ?? "" };
  }
  const { rows } = await fixtures.sql.query(
    "select link, code from local_auth.read_outbox(200) where recipient = $1 limit 1",
    [email],
  );
  return rows[0];
}
