import { readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Page, Response } from "@playwright/test";
import { signUpUser } from "@/tests/helpers/client";
import { authorizeUrl, makePkce, registerClient } from "@/tests/helpers/oauth";
import { projectRoot } from "@/tests/helpers/project-root";
import { setRole, signUp } from "./accounts";
import { findBarriers } from "./axe";
import { expect, test, type World } from "./fixtures";
import { expectLight, expectStill, expectUsable, watchLayout, watchPolicy } from "./page-checks";
import { recordSpend, signUpWithSpend } from "./spend";

/** Every page, by its folder under app/, so that a new one is included. */
const pages = readdirSync(join(projectRoot, "app"), { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith("page.tsx"))
  .map((file) => join("/", dirname(file)).replace(/\/\([^)]+\)/g, "") || "/")
  .sort();

/** Shows nothing and redirects to a workspace. */
const isSeen = (path: string) => path !== "/workspaces";
const isOfWorkspace = (path: string) => path.startsWith("/[workspace]");
/** Pages for signed-in users outside a workspace. */
const isOfAccount = (path: string) =>
  ["/workspaces/new", "/workspaces/deleted", "/oauth/authorize"].includes(path);
/** The page for a session from a mailed link. */
const isOfMail = (path: string) => path === "/reset/new";

/** Pages for users who have to set up or prove a second factor. */
const isOfSecondFactor = (path: string) => ["/sign-in/code", "/workspaces/two-factor"].includes(path);

/** A workspace with some of everything, an invitation to it, an authorization request, and the id of a source. */
type Scene = { slug: string; invitation: string; question: string; source: string };

async function setScene(world: World): Promise<Scene> {
  const { baseUrl } = world.service;
  const host = await signUpUser(baseUrl);
  const { body: me } = await host.get("/api/v1/me");
  const slug = String((me.workspaces as { slug: string }[])[0]?.slug);
  await recordSpend(world, slug);
  const api = `/api/v1/workspaces/${slug}`;
  const make = async (path: string, body: Record<string, unknown>) => {
    const answer = await host.call("POST", api + path, body);
    expect(answer.status, JSON.stringify(answer.body)).toBe(201);
    return answer.body;
  };
  await make("/budgets", { scope_type: "global", amount: 1_000 });
  const { link } = await make("/invitations", { role: "viewer" });
  const question = authorizeUrl(baseUrl, await registerClient(baseUrl), makePkce().challenge);
  const { id: source } = await make("/api-keys", {
    name: "Claude Code",
    permissions: ["log_usage"],
    source: { program: "claude-code" },
  });
  return {
    slug,
    invitation: new URL(String(link)).pathname,
    question: question.slice(baseUrl.length),
    source: String(source),
  };
}

/** Makes a user the owner of a workspace that was deleted. */
async function haveDeletedWorkspace(world: World, email: string): Promise<void> {
  const { sql } = world.fixtures;
  const id = await world.fixtures.workspace();
  const { rows } = await sql.query("select slug from public.workspaces where id = $1", [id]);
  await setRole(world, rows[0].slug, email, "owner");
  await sql.query(
    "update public.workspaces set deleted_at = now(), prices_version = prices_version - private.deletion_mark() where id = $1",
    [id],
  );
}

function addressOf(path: string, { slug, invitation, question, source }: Scene): string {
  if (path === "/oauth/authorize") return question;
  if (path === "/workspaces/two-factor") return `${path}?workspace=${slug}`;
  const address = path === "/invite/[token]" ? invitation : path.replace("[workspace]", slug);
  return address.replace("[project]", "checkout").replace("[source]", source);
}

/** Opens each page and runs the checks of every page. */
async function visitAll(
  page: Page,
  paths: string[],
  scene: Scene,
  check: (opened: Response | null) => Promise<void>,
) {
  await watchLayout(page);
  const violations = await watchPolicy(page);
  expect(paths.length).toBeGreaterThan(0);
  for (const path of paths) {
    await test.step(path, async () => {
      const address = addressOf(path, scene);
      expect(address, "what stands for a part of the address is known").not.toContain("[");
      const opened = await page.goto(address);
      // A page that redirects elsewhere was not checked.
      expect(new URL(page.url()).pathname).toBe(address.replace(/\?.*/, ""));
      await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
      await check(opened);
      await expectStill(page);
      expect(violations).toEqual([]);
    });
  }
}

test.describe("Every page is accessible, small, and without layout shifts", () => {
  test.setTimeout(240_000);

  test("For an owner", { tag: "@phone" }, async ({ page, world }) => {
    const scene = await setScene(world);
    const { email } = await signUp(page);
    await setRole(world, scene.slug, email, "owner");
    await haveDeletedWorkspace(world, email);
    const paths = pages.filter((path) => isOfWorkspace(path) || isOfAccount(path));
    await visitAll(page, paths, scene, async (opened) => {
      await expectUsable(page);
      await expectLight(page, opened);
    });
  });

  test("For a session from a recovery link", { tag: "@phone" }, async ({ page, world }) => {
    const scene = await setScene(world);
    const { email } = await signUp(page);
    await page.goto("/reset");
    await page.getByLabel("E-mail address").fill(email);
    await page.getByRole("button", { name: "Send the link" }).click();
    await expect(page.getByText(`If there is an account for ${email}`)).toBeVisible();
    const { rows } = await world.fixtures.sql.query(
      "select link from local_auth.read_outbox(500) where recipient = $1",
      [email],
    );
    await page.goto(rows[0].link);
    await visitAll(page, pages.filter(isOfMail), scene, async (opened) => {
      await expectUsable(page);
      await expectLight(page, opened);
    });
  });

  test("For a session that needs its second factor", { tag: "@phone" }, async ({ page, world }) => {
    const scene = await setScene(world);
    const { email } = await signUp(page);
    await setRole(world, scene.slug, email, "member");
    await world.fixtures.sql.query("update public.workspaces set require_mfa = true where slug = $1", [
      scene.slug,
    ]);
    await visitAll(page, ["/workspaces/two-factor", "/sign-in/code"], scene, async (opened) => {
      await expectUsable(page);
      await expectLight(page, opened);
      // Set up on another device, while this session has not given its code: the next page asks for it.
      await world.fixtures.sql.query(
        `insert into auth.mfa_factors (id, user_id, friendly_name, factor_type, status, secret, created_at, updated_at)
         select gen_random_uuid(), id, 'Phone', 'totp', 'verified', 'JBSWY3DPEHPK3PXP', now(), now()
         from auth.users where email = $1 on conflict do nothing`,
        [email],
      );
    });
  });

  // Pages with another layout on a phone are checked as an owner.
  test("For a viewer", async ({ page, world }) => {
    const scene = await setScene(world);
    const { email } = await signUp(page);
    await setRole(world, scene.slug, email, "viewer");
    // Its colours are those that an owner sees.
    await visitAll(page, pages.filter(isOfWorkspace), scene, async () =>
      expect(await findBarriers(page, "structure")).toEqual([]),
    );
  });

  test("For a visitor who is not signed in", { tag: "@phone" }, async ({ page, world }) => {
    const paths = pages.filter(
      (path) =>
        isSeen(path) &&
        !isOfWorkspace(path) &&
        !isOfAccount(path) &&
        !isOfMail(path) &&
        !isOfSecondFactor(path),
    );
    await visitAll(page, paths, await setScene(world), async (opened) => {
      await expectUsable(page);
      await expectLight(page, opened);
    });
  });
});

test("Navigates between pages without layout shifts", { tag: "@phone" }, async ({ page, world }) => {
  const { slug } = await signUpWithSpend(page, world);
  await watchLayout(page);
  await page.goto(`/${slug}`);
  for (const heading of ["Projects", "Overview"]) {
    const menu = page.getByRole("button", { name: "Menu" });
    if (await menu.isVisible()) await menu.click();
    await page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: heading }).click();
    await expect(page.getByRole("heading", { level: 1, name: heading })).toBeVisible();
    await expectStill(page);
  }
});
