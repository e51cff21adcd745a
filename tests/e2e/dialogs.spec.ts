import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { crossing, raiseLasting } from "@/tests/helpers/alerts";
import { projectRoot } from "@/tests/helpers/project-root";
import { setRole, signUp, workspaceId } from "./accounts";
import { expect, test } from "./fixtures";
import { ofSettings } from "./opened-settings";
import { ofSpend } from "./opened-spend";
import { expectUsableAlsoOnPhone } from "./page-checks";
import { setScene } from "./scene";

test.use({ mayBeRefused: true });

const all = { "costs, budgets and projects": ofSpend, "alerts, keys and settings": ofSettings };

for (const [subject, opened] of Object.entries(all))
  test(`Keeps every dialog, menu and unfolded part of ${subject} accessible in both themes, and within the screen, also a phone's`, async ({
    page,
    world,
  }) => {
    test.setTimeout(480_000);
    const { slug } = await setScene(world);
    const { email } = await signUp(page);
    await setRole(world, slug, email, "owner");
    // New to this owner: what fired before they joined is not.
    await raiseLasting(world.fixtures, crossing(await workspaceId(world, slug), { level: "100" }));
    for (const { path, open } of opened)
      await test.step(path, async () => {
        await page.goto(`/${slug}${path}`);
        await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
        let checks = 0;
        await open(page, async () => {
          checks += 1;
          await expectUsableAlsoOnPhone(page);
        });
        expect(checks).toBeGreaterThan(0);
      });
  });

test("Lists every file that shows a dialog", () => {
  const folder = join(projectRoot, "components");
  const opens = /from "(?:@\/components\/ui|\.)\/(?:dialog|sheet|confirm-dialog|popover|secret-dialog)"/;
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".tsx") && !file.startsWith("ui/"))
    .filter((file) => opens.test(readFileSync(join(folder, file), "utf8")))
    .map((file) => file.replace(/\.tsx$/, ""));
  expect(
    Object.values(all)
      .flat()
      .flatMap((each) => each.files)
      .sort(),
  ).toEqual(files.sort());
});
