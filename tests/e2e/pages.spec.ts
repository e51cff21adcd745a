import { readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Page, Response } from "@playwright/test";
import { projectRoot } from "@/tests/helpers/project-root";
import { setRole, signUp } from "./accounts";
import { expect, test, type World } from "./fixtures";
import { attributesOf, readPage } from "./html";
import {
  expectLight,
  expectStill,
  expectUsable,
  expectWithin,
  watchLayout,
  watchPolicy,
} from "./page-checks";
import { type Scene, setScene } from "./scene";
import { signUpWithSpend } from "./spend";

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
  [
    ...["/workspaces/new", "/workspaces/deleted", "/workspaces/ask", "/workspaces/slack"],
    "/oauth/authorize",
  ].includes(path);
/** The page for a session from a mailed link. */
const isOfMail = (path: string) => path === "/reset/new";

/** Pages for users who have to set up or prove a second factor. */
const isOfSecondFactor = (path: string) => ["/sign-in/code", "/workspaces/two-factor"].includes(path);

/** Buttons of every table. */
const ofEveryTable = ["View", "CSV"];

const ofRange = ["Chosen days…", "Compared with", "Period"];

/** What a viewer may do on a page besides following links to other pages. */
const ofViewers: Record<string, string[]> = {
  "": [...ofRange, "Allocated in", "Allocated out", "checkout", "research", "search"],
  "/activity": ["Period", "1 switch", "2 lines of in-house · batch b-9 · 2 lines", "Export", "Filter"],
  "/alerts/rules": ["Actions for Finance hook", "Deliveries", "1 switch", "Send me the last week now"],
  "/connections": [
    ...["ChatGPT", "Claude", "Claude Code", "Cursor", "Others", "VS Code"],
    ...[
      "Copy .cursor/mcp.json",
      "Copy .vscode/mcp.json",
      "Copy Address",
      "Copy Command",
      "Copy Configuration",
    ],
  ],
  "/explore": [
    ...ofRange,
    ...["Add filter", "Apply", "PNG", "Save this view", "Views", "checkout", "research", "search"],
  ],
  "/projects": [...ofRange],
  "/projects/[project]": [...ofRange, "Allocated out", "gpt-4o"],
  "/settings": ["Leave"],
  "/settings/account": [
    ...["Add an authenticator", "Change the address", "Change the password", "Delete account", "Save"],
    "Use a code by mail",
  ],
  "/settings/books": ["Copy the hash of the export"],
  "/sources/[source]": ["Copy ~/.claude/settings.json"],
  "/spend/[dimension]": [...ofRange],
};

/** What a member may do besides. */
const ofMembers: Record<string, string[]> = {
  "/activity": ["Add a cost", "to /activity/import"],
  "/budgets/requests": ["Ask for more"],
  "/alerts": [
    ...[
      "Actions for 80% of the budget Everything is spent",
      "Actions for The key Test key is near its monthly limit",
    ],
    ...["Assign", "Resolve", "Assign to me"],
  ],
  "/keys": ["Create a key"],
  "/projects/[project]": ["Actions for checkout", "Archive", "Rename"],
  "/settings/subscriptions": ["Stop Figma"],
  "/sources": ["to /sources/new"],
};

/** The pages that say to members that they are for admins, and to viewers that besides these they may not record anything. */
const refusedToMembers = ["/settings/audit"];
const refusedToViewers = ["/activity/import", "/sources/new", ...refusedToMembers];

/** What pages show at other addresses than their own: other forms, and what is wrong with an address. */
const variants = [
  "?from=2026-11-10&to=2026-11-01",
  "?period=all&by=model",
  "/activity?period=fortnight",
  "/activity?period=all&project=checkout&q=nowhere",
  "/alerts?status=resolved&assignee=me",
  "/alerts?status=lost",
  "/budgets?show=table",
  "/explore?by=colour",
  "/explore?period=all&over=day&top=50",
  "/explore?period=all&by=model&over=project&show=pivot",
  "/explore?period=all&by=model&over=none&show=table",
  "/projects?from=2020-02-03&to=2020-02-09",
  "/settings/audit?q=nowhere",
  "/spend/model?name=gpt-4o",
].map((path) => `/[workspace]${path}`);

/** The names of the buttons and switches that a page has, without those of its tables and of the shell, and its links to forms. */
function listActions(html: string, slug: string): string[] {
  const content = html.slice(html.indexOf("<main")).replaceAll(/<th\b.*?<\/th>/gs, "");
  const buttons = [...content.matchAll(/<button\b([^>]*)>(.*?)<\/button>/gs)].map(
    ([, attributes = "", inner = ""]) =>
      /aria-label="([^"]*)"/.exec(attributes)?.[1] ?? inner.replaceAll(/<[^>]*>/g, "").trim(),
  );
  const { length: count } = attributesOf(content, "role", "switch");
  const switches = count > 0 ? [`${count} switch`] : [];
  const forms = ["/activity/import", "/sources/new"].filter((form) =>
    content.includes(`href="/${slug}${form}"`),
  );
  const names = [...buttons, ...switches, ...forms.map((form) => `to ${form}`)].map((name) =>
    name.replace(/(: .*|\$.*)$/, ""),
  );
  return [...new Set(names)].filter((name) => name !== "" && !ofEveryTable.includes(name)).sort();
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
  return address.replace("[project]", "checkout").replace("[source]", source).replace("[dimension]", "model");
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
  test.setTimeout(480_000);

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

  test("For an owner at other addresses", { tag: "@phone" }, async ({ page, world, isMobile }) => {
    const scene = await setScene(world);
    const { email } = await signUp(page);
    await setRole(world, scene.slug, email, "owner");
    // On a phone, what they are made of is that of the pages themselves.
    await visitAll(page, variants, scene, () => (isMobile ? expectWithin(page) : expectUsable(page)));
  });

  test("For the owner of an empty workspace", { tag: "@phone" }, async ({ page, isMobile }) => {
    const { slug } = await signUp(page);
    const paths = pages.filter((path) => isOfWorkspace(path) && !/\[(project|source)\]/.test(path));
    const scene = { slug, invitation: "", question: "", source: "" };
    await visitAll(page, paths, scene, () => (isMobile ? expectWithin(page) : expectUsable(page)));
  });

  test("For a viewer, where there is something else than for an owner", async ({ page, world }) => {
    const scene = await setScene(world);
    const { email } = await signUp(page);
    await setRole(world, scene.slug, email, "viewer");
    const paths = ["", "/activity", ...refusedToViewers].map((path) => `/[workspace]${path}`);
    await visitAll(page, paths, scene, () => expectUsable(page));
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

for (const role of ["viewer", "member"] as const)
  test(`Offers a ${role} on each page what the role allows, and nothing else`, async ({ request, world }) => {
    const scene = await setScene(world);
    const { email } = await signUp({ request });
    await setRole(world, scene.slug, email, role);
    for (const page of pages.filter(isOfWorkspace)) {
      const path = page.replace("/[workspace]", "");
      const { status, html, text } = await readPage(request, addressOf(page, scene));
      expect(status, path).toBe(200);
      const more = role === "member" ? (ofMembers[path] ?? []) : [];
      expect(listActions(html, scene.slug), path).toEqual([...(ofViewers[path] ?? []), ...more].sort());
      const isRefused = /(Viewers cannot (record costs|add a source)|The audit log is for admins)/.test(text);
      expect(isRefused, path).toBe((role === "viewer" ? refusedToViewers : refusedToMembers).includes(path));
    }
  });

test("Hides every page of a workspace from a stranger", async ({ request, world }) => {
  const scene = await setScene(world);
  await signUp({ request });
  for (const path of pages.filter(isOfWorkspace))
    expect((await readPage(request, addressOf(path, scene))).status, path).toBe(404);
});
