import type { Page } from "@playwright/test";
import { apiClient, signUpUser } from "@/tests/helpers/client";
import { setRole, signUp, workspaceId } from "./accounts";
import { expect, test, type World } from "./fixtures";

/** Names of 80 characters in four scripts, as different as their last digits. */
const scripts = [
  "Customer support assistant of the Scandinavian and Baltic region, second generation",
  "Ассистент поддержки клиентов северных регионов второго поколения для операторов бюро",
  "مساعد دعم العملاء للمناطق الشمالية من الجيل الثاني لمشغلي مراكز الاتصال الكبيرة جدا في البلاد",
  "北部地域のカスタマーサポートアシスタント第二世代".repeat(4),
];
const nameOf = (number: number) => `${(scripts[number % 4] ?? "").slice(0, 76)} ${number}`;

/** A project whose address has no place to break. */
const slugOf = (number: number) => `project-of-the-department-that-nobody-would-shorten-${number}`;

const amounts = [1e-9, 0.0000012345, 12.5, 98_765.43, 900_000_000_000, 900_000_000_000];

/** Fills a workspace with long names, large and small amounts, and more of everything than a screen shows. */
async function crowd(world: World, slug: string): Promise<void> {
  const { sql } = world.fixtures;
  const id = await workspaceId(world, slug);
  await setLimits(world, slug);
  const { secret } = await world.fixtures.key(id);
  const messages = Array.from({ length: 120 }, (_, number) => ({
    project: slugOf(number % 20),
    source: "api",
    message: {
      type: "usage",
      provider: "a-provider-with-a-really-long-name",
      model: nameOf(number % 15),
      unit_type: "input_tokens",
      quantity: 1000 + number,
      user: number % 2 ? nameOf(number % 10) : `somebody-${number % 10}@example.com`,
      feature: nameOf(number % 30),
      estimated_cost: amounts[number % amounts.length],
      occurred_at: new Date(Date.now() - (number % 40) * 24 * 60 * 60 * 1000).toISOString(),
    },
  }));
  const answer = await apiClient(world.service.baseUrl, secret).post({ messages }, {}, "/batch");
  expect(answer.status).toBe(207);
  expect((answer.body.results as { status: number }[]).filter(({ status }) => status !== 201)).toEqual([]);
  await sql.query("update public.projects set name = $2 where workspace_id = $1 and slug = $3", [
    id,
    nameOf(0),
    slugOf(0),
  ]);
  for (let number = 0; number < 12; number += 1) {
    const { id: key } = await world.fixtures.key(id);
    await sql.query("update public.api_keys set name = $2, monthly_limit = 900000000000 where id = $1", [
      key,
      nameOf(number),
    ]);
  }
}

/** Has another admin set prices, and budgets that the costs will exceed. */
async function setLimits(world: World, slug: string): Promise<void> {
  const admin = await signUpUser(world.service.baseUrl);
  await setRole(world, slug, admin.email, "admin");
  const set = async (method: "POST" | "PUT", path: string, body: Record<string, unknown>) => {
    const answer = await admin.call(method, `/api/v1/workspaces/${slug}/${path}`, body);
    expect([200, 201, 202], JSON.stringify(answer.body)).toContain(answer.status);
  };
  for (let number = 0; number < 12; number += 1) {
    const name = nameOf(number);
    await set("POST", "budgets", {
      name,
      scope_type: "feature",
      scope_value: name,
      amount: amounts[number % amounts.length],
      allow_unknown_scope: true,
    });
    await set("PUT", "prices", {
      provider: "a-provider",
      model: name,
      unit_type: "images",
      rate: 0.000000012345,
      starts_at: "2026-01-01T00:00:00Z",
    });
  }
}

/**
 * What a reader would have to scroll sideways for, and figures that leave their place, where they cover the one beside
 * them.
 */
function findOverflows(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const found: string[] = [];
    const { scrollWidth, clientWidth } = document.documentElement;
    if (scrollWidth > clientWidth) found.push(`the page by ${scrollWidth - clientWidth} px`);
    for (const table of document.querySelectorAll("main table")) {
      const frame = table.parentElement;
      const beyond = frame ? frame.scrollWidth - frame.clientWidth : 0;
      if (beyond > 0) found.push(`the table ${table.getAttribute("aria-label")} by ${beyond} px`);
    }
    for (const part of document.querySelectorAll("main dd")) {
      if (part.scrollWidth > part.clientWidth) found.push(`the figure ${part.textContent}`);
    }
    return found;
  });
}

const paths = [
  "",
  "/activity",
  "/alerts",
  "/alerts/rules",
  "/budgets",
  "/explore",
  "/explore?by=user&over=model&show=table",
  "/explore?by=user&over=none&show=table",
  "/keys",
  "/projects",
  `/projects/${slugOf(0)}`,
  "/connections",
  "/settings/audit",
  "/settings/members",
  "/settings/people",
  "/settings/prices",
  "/sources",
];

test("Keeps every figure in sight on a phone and a tablet, however long names and amounts are", async ({
  page,
  world,
}) => {
  test.setTimeout(480_000);
  const { slug } = await signUp(page);
  await crowd(world, slug);
  for (const path of paths) {
    await page.setViewportSize({ width: 390, height: 844 });
    await page.goto(`/${slug}${path}`);
    await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
    await page.waitForLoadState("networkidle");
    await expect(page.getByText("This address is not valid")).toBeHidden();
    expect(await findOverflows(page), `${path} at 390 px`).toEqual([]);
    if (path === "/projects") await expectDrawn(page);
    await page.setViewportSize({ width: 768, height: 844 });
    // A chart follows its frame once that has its new width.
    await expect.poll(() => findOverflows(page), `${path} at 768 px`).toEqual([]);
  }
});

/** Asserts that the list of projects draws what a project cost by day, beside the amount. */
async function expectDrawn(page: Page): Promise<void> {
  const row = page.getByRole("row", { name: nameOf(0) });
  const drawn = row.locator("svg:visible");
  await expect(drawn).toHaveCount(1);
  const [line, amount] = await Promise.all([drawn.boundingBox(), row.getByRole("cell").last().boundingBox()]);
  expect(line && amount && line.x + line.width <= amount.x).toBe(true);
}
