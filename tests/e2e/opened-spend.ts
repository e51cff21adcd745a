import { rowsOf } from "./activity-table";
import { expect } from "./fixtures";
import { ask, button, choose, click, inspect, type Opened, shown } from "./opened";
import { unfoldAll } from "./spend";

/** What opens on the pages of costs, budgets and projects. */
export const ofSpend: Opened[] = [
  {
    path: "",
    files: ["filters/range-picker", "shell/alert-bell", "shell/command-palette"],
    open: async (page, check) => {
      await unfoldAll(page);
      await check();
      await click(page, /^Period: /);
      await expect(page.getByRole("grid")).toBeVisible();
      await check();
      await page.keyboard.press("Escape");
      await click(page, /^Compared with: /);
      await click(page, "Chosen days…");
      await expect(page.getByRole("grid")).toBeVisible();
      await check();
      await page.keyboard.press("Escape");
      await click(page, /^Alerts, \d+ new$/);
      await shown(page, "dialog", "Newest alerts");
      await expect(
        page.getByRole("dialog", { name: "Newest alerts" }).getByRole("listitem").first(),
      ).toBeVisible();
      await check();
      await page.keyboard.press("Escape");
      await page.keyboard.press("Control+k");
      await expect(page.getByRole("option", { name: "checkout" })).toBeVisible();
      await check();
      await page.keyboard.type("no such thing");
      await expect(page.getByText("Nothing found")).toBeVisible();
      await check();
      await page.keyboard.press("Escape");
      const menu = button(page, "Menu");
      if (await menu.isVisible()) await menu.click();
      for (const name of [/switch workspace/, /^Account of /]) {
        await click(page, name);
        await expect(page.getByRole("menu")).toBeVisible();
        await check();
        await page.keyboard.press("Escape");
        await expect(page.getByRole("menu")).toBeHidden();
      }
    },
  },
  {
    path: "/activity?period=all",
    files: [
      "activity/add-cost-dialog",
      "activity/bulk-dialog",
      "activity/correct-dialog",
      "activity/filter-menu",
      "activity/message-facts",
      "activity/message-sheet",
      "activity/view-menu",
      "activity/void-dialog",
    ],
    open: async (page, check) => {
      await click(page, "Filter");
      await inspect(page, check, "Filters");
      await click(page, "View");
      await inspect(page, check, "View");
      await click(page, "Export");
      await expect(page.getByRole("menuitem", { name: /^CSV/ })).toBeFocused();
      await check();
      await page.keyboard.press("Escape");
      await click(page, /^2 lines of/);
      await expect(page.locator("[data-line]")).toHaveCount(2);
      await page.mouse.move(0, 0);
      await check();
      await click(page, "Add a cost");
      const dialog = page.getByRole("dialog", { name: "Add a cost" });
      await dialog.getByLabel("Project").fill("checkout");
      await dialog.getByLabel("Paid to").fill("Figma");
      await dialog.getByLabel("Amount").fill("twelve");
      await dialog.getByRole("button", { name: "Record" }).click();
      await expect(dialog.getByLabel("Amount")).toHaveAccessibleDescription("Must be a number.");
      await check();
      await page.keyboard.press("Escape");
      await page
        .getByRole("checkbox", { name: /^Select Hetzner/ })
        .first()
        .check();
      for (const [button, name] of [
        ["Move…", "Move to another project"],
        ["Tags…", "Change tags and feature"],
        ["Amounts…", "Correct the amounts"],
        ["Void…", "Void these costs"],
      ] as const) {
        await click(page, button);
        if (button === "Void…")
          await expect(page.getByRole("region", { name: "What changes" })).toBeVisible();
        await inspect(page, check, name);
      }
      await click(page, "Clear");
      await rowsOf(page).filter({ hasText: "Hetzner" }).first().click();
      const sheet = page.getByRole("dialog", { name: "Hetzner" });
      await sheet.getByRole("button", { name: "Correct…" }).click();
      await inspect(page, check, "Correct this cost");
      await sheet.getByRole("button", { name: "Void…" }).click();
      const question = page.getByRole("dialog", { name: "Void this cost?" });
      await question.getByRole("button", { name: "Void", exact: true }).click();
      await expect(question.getByText("Is required.")).toBeVisible();
      await check();
      await question.getByLabel("Reason").fill("Recorded twice.");
      await question.getByRole("button", { name: "Void", exact: true }).click();
      await sheet.getByRole("link", { name: "another cost" }).click();
      await expect(sheet.getByText("Recorded twice.")).toBeVisible();
      await check();
    },
  },
  {
    path: "/activity/import",
    files: [],
    open: async (page, check) => {
      await page.getByLabel(/^Choose a CSV file/).setInputFiles({
        name: "costs.csv",
        mimeType: "text/csv",
        buffer: Buffer.from(
          "Date,Project,Provider,Model Name,Unit,Tokens,Cost USD,Team\n" +
            "2026-11-02,checkout,openai,gpt-4o,input_tokens,120000,0.3,web\n" +
            "2026-11-04,search,anthropic,claude-sonnet-4-5,input_tokens,-5,0.10,data\n",
        ),
      });
      await expect(page.getByLabel("Field of the column Tokens")).toHaveValue("quantity");
      await check();
      await click(page, "Check the rows");
      await expect(page.getByText("1 row would be recorded, 1 row would be refused.")).toBeVisible();
      await check();
      await click(page, "Record 1 row");
      await expect(page.getByText("1 row recorded, 1 row refused.")).toBeVisible();
      await check();
    },
  },
  {
    path: "/budgets",
    files: [
      ...["budgets/budget-actions", "budgets/budget-dialog", "budgets/limit-actions"],
      "budgets/link-limit-dialog",
    ],
    open: async (page, check) => {
      await ask(page, check, "Actions for Everything", "Delete");
      await ask(page, check, "Actions for OpenRouter API key ci", "Unlink and leave the limit");
      await choose(page, "Actions for Everything", "Limit at a provider");
      await inspect(page, check, "Limit Everything at a provider");
      await choose(page, "Actions for Everything", "Edit");
      await inspect(page, check, "Edit Everything");
      await click(page, "Set a budget");
      const dialog = page.getByRole("dialog", { name: "Set a budget" });
      await dialog.getByLabel("How often does it reset?").selectOption("Every week");
      await dialog.getByText("Days and time zone").click();
      await dialog.getByLabel("What does it cover?").selectOption("A project");
      await dialog.getByRole("button", { name: "Set the budget" }).click();
      await expect(dialog.getByLabel("How much per week?")).toHaveAccessibleDescription(/Must be an amount/);
      await dialog.getByRole("combobox", { name: "Which project?" }).fill("search");
      await expect(dialog.getByRole("option", { name: "search", exact: true })).toBeVisible();
      await check();
    },
  },
  {
    path: "/explore?by=project&over=none&show=table&period=all",
    files: ["explore/filter-editor", "explore/saved-views"],
    open: async (page, check) => {
      await click(page, "Add filter");
      await expect(page.getByRole("combobox", { name: "Field", exact: true })).toBeVisible();
      await check();
      await page.keyboard.press("Escape");
      await click(page, "Views");
      await expect(page.getByRole("list", { name: "Saved views" })).toBeVisible();
      await check();
    },
  },
  {
    path: "/projects",
    files: ["table/view-menu"],
    open: async (page, check) => {
      await page.getByRole("searchbox", { name: "Search projects" }).fill("nothing like it");
      await expect(page.getByText("No project matches “nothing like it”.")).toBeVisible();
      await check();
      await click(page, "Clear search");
      await click(page, "View");
      await shown(page, "dialog", "View");
      await check();
    },
  },
  {
    path: "/projects/checkout",
    files: ["projects/project-actions", "projects/rename-project"],
    open: async (page, check) => {
      await choose(page, /^Actions for/, "Rename");
      await inspect(page, check);
      await ask(page, check, /^Actions for/, "Archive");
    },
  },
];
