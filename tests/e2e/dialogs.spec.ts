import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "@playwright/test";
import { codeOf, earlyInStep } from "@/tests/helpers/authenticator";
import { projectRoot } from "@/tests/helpers/project-root";
import { setRole, signUp } from "./accounts";
import { rowsOf } from "./activity-table";
import { expect, test } from "./fixtures";
import { expectUsable } from "./page-checks";
import { setScene } from "./scene";
import { unfoldAll } from "./spend";

test.use({ mayBeRefused: true });

/** What is opened on a page of a workspace: dialogs, menus, unfolded parts and what a form says of its fields. */
type Opened = {
  /** The path below the workspace. */
  path: string;
  /** The files under components that show it, without their ending. */
  files: string[];
  /** Opens one after another, each until the check of the next. */
  open: (page: Page, check: () => Promise<void>) => Promise<void>;
};

const button = (page: Page, name: string | RegExp) =>
  page.getByRole("button", typeof name === "string" ? { name, exact: true } : { name }).first();
const click = (page: Page, name: string | RegExp) => button(page, name).click();
const choose = async (page: Page, name: string | RegExp, item: string | RegExp) => {
  await click(page, name);
  await page
    .getByRole("menuitem", { name: item })
    .or(page.getByRole("menuitemradio", { name: item }))
    .click();
};
const shown = (page: Page, role: "dialog" | "alertdialog", name?: string | RegExp) =>
  expect(page.getByRole(role, name === undefined ? {} : { name }).last()).toBeVisible();

/** Opens a question by a menu and closes it. */
const ask = async (page: Page, check: () => Promise<void>, name: string | RegExp, item?: string | RegExp) => {
  await (item ? choose(page, name, item) : click(page, name));
  await shown(page, "alertdialog");
  await check();
  await page.keyboard.press("Escape");
  await expect(page.getByRole("alertdialog")).toBeHidden();
};

const all: Opened[] = [
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
      "activity/correct-dialog",
      "activity/filter-menu",
      "activity/message-facts",
      "activity/message-sheet",
      "activity/void-dialog",
    ],
    open: async (page, check) => {
      await click(page, "Filter");
      await shown(page, "dialog", "Filters");
      await check();
      await page.keyboard.press("Escape");
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
      await rowsOf(page).filter({ hasText: "Hetzner" }).first().click();
      const sheet = page.getByRole("dialog", { name: "Hetzner" });
      await sheet.getByRole("button", { name: "Correct…" }).click();
      await shown(page, "dialog", "Correct this cost");
      await check();
      await page.keyboard.press("Escape");
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
    path: "/alerts",
    files: [
      "alerts/channel-actions",
      "alerts/channel-log",
      "alerts/edit-channel-dialog",
      "alerts/edit-rule-dialog",
      "alerts/new-channel-dialog",
      "alerts/signing-secret-dialog",
      "alerts/snooze-dialog",
    ],
    open: async (page, check) => {
      const actions = "Actions for Finance hook";
      for (const [item, name] of [
        ["Deliveries", "Deliveries of Finance hook"],
        ["Edit", "Edit Finance hook"],
      ] as const) {
        await choose(page, actions, item);
        await shown(page, "dialog", name);
        await check();
        await page.keyboard.press("Escape");
      }
      await ask(page, check, actions, "Delete");
      await choose(page, "Actions for Key near its limit", "Change when it fires");
      await shown(page, "dialog", "Key near its limit");
      await check();
      await page.keyboard.press("Escape");
      await click(page, "Snooze Test key");
      await shown(page, "dialog", "Snooze Test key");
      await check();
      await page.keyboard.press("Escape");
      await click(page, "Add a channel");
      const dialog = page.getByRole("dialog", { name: "Add a channel" });
      await dialog.getByLabel("When?").selectOption("As a weekly digest");
      await check();
      await dialog.getByLabel("Kind").selectOption("Webhook");
      await dialog.getByLabel("Address").fill("http://127.0.0.1:9/hook");
      await dialog.getByLabel("Name").fill("Other hook");
      await check();
      await dialog.getByRole("button", { name: "Add the channel" }).click();
      const secret = page.getByRole("dialog", { name: "The signing secret of Other hook" });
      await expect(secret.getByLabel("signing secret", { exact: true })).toHaveValue(/^whsec_/);
      await page.keyboard.press("Escape");
      await expect(secret.getByText("cannot be shown again")).toBeVisible();
      await check();
    },
  },
  {
    path: "/budgets",
    files: ["budgets/budget-actions", "budgets/budget-dialog"],
    open: async (page, check) => {
      await ask(page, check, "Actions for Everything", "Delete");
      await choose(page, "Actions for Everything", "Edit");
      await shown(page, "dialog", "Edit Everything");
      await check();
      await page.keyboard.press("Escape");
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
    path: "/connections",
    files: ["connections/connection-table"],
    open: (page, check) => ask(page, check, /^Disconnect /),
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
    path: "/keys",
    files: ["keys/key-actions", "keys/key-sheet", "keys/new-key", "keys/secret-dialog"],
    open: async (page, check) => {
      await page.getByText("One key that is revoked or expired").click();
      await check();
      await ask(page, check, "Actions for Claude Code", "Rotate the secret");
      await ask(page, check, "Actions for Claude Code", "Revoke");
      await choose(page, "Actions for Claude Code", "Edit");
      await shown(page, "dialog", "Edit Claude Code");
      await check();
      await page.keyboard.press("Escape");
      await click(page, "Create a key");
      const sheet = page.getByRole("dialog", { name: "Create a key" });
      await sheet.getByText("All but some").click();
      await sheet.getByLabel("Excluded projects").click();
      await sheet.getByRole("option", { name: "search", exact: true }).click();
      await sheet.getByText("More limits").click();
      await sheet.getByRole("button", { name: "Create the key" }).click();
      await expect(sheet.getByLabel("What is its name?")).toHaveAccessibleDescription("Must not be blank.");
      await check();
      await sheet.getByLabel("What is its name?").fill("CI");
      await sheet.getByRole("button", { name: "Create the key" }).click();
      const secret = page.getByRole("dialog", { name: "The secret of CI" });
      await secret.getByRole("button", { name: "Send a test message" }).click();
      await expect(secret.getByText("It works")).toBeVisible();
      await page.keyboard.press("Escape");
      await expect(secret.getByRole("alert")).toContainText("cannot be shown again");
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
      await shown(page, "dialog");
      await check();
      await page.keyboard.press("Escape");
      await ask(page, check, /^Actions for/, "Archive");
    },
  },
  {
    path: "/settings",
    files: ["deletion/delete-dialog", "workspaces/leave-workspace", "workspaces/transfer-ownership"],
    open: async (page, check) => {
      await ask(page, check, "Transfer");
      await ask(page, check, "Leave");
      await click(page, "Delete workspace");
      await shown(page, "dialog");
      await check();
    },
  },
  {
    path: "/settings/members",
    files: ["members/invite-dialog", "members/member-actions", "members/revoke-invitation"],
    open: async (page, check) => {
      await ask(page, check, "Revoke the invitation for bo@example.com");
      await ask(page, check, /^Role of /, /^Viewer/);
      await click(page, "Invite someone");
      const dialog = page.getByRole("dialog");
      await check();
      await dialog.getByRole("button", { name: "Create the link" }).click();
      await expect(dialog.getByLabel("invitation link", { exact: true })).toBeVisible();
      await page.keyboard.press("Escape");
      await expect(dialog.getByRole("alert")).toContainText("cannot be shown again");
      await check();
    },
  },
  {
    path: "/settings/people",
    files: ["people/erase-person"],
    open: async (page, check) => {
      await click(page, "Erase ada@example.org");
      await expect(page.getByRole("alertdialog").getByRole("region", { name: "Replaced" })).toBeVisible();
      await check();
    },
  },
  {
    path: "/settings/prices",
    files: ["prices/price-dialog"],
    open: async (page, check) => {
      await click(page, "Set price of ranker-7b, input_tokens");
      const dialog = page.getByRole("dialog", { name: "Set a price" });
      await dialog.getByLabel("Price, US dollars", { exact: true }).fill("2,500");
      await expect(dialog.getByRole("status")).toContainText("will cost $1.25");
      await check();
    },
  },
  {
    path: "/settings/subscriptions",
    files: ["subscriptions/subscription-table"],
    open: (page, check) => ask(page, check, "Stop Figma"),
  },
  {
    path: "/settings/audit?kind=budget",
    files: [],
    open: async (page, check) => {
      await page.getByText("set the budget Everything").click();
      await expect(page.getByText("Amount, USD")).toBeVisible();
      await check();
    },
  },
  {
    path: "/settings/account",
    files: [
      "second-factor/add-authenticator",
      "second-factor/remove-authenticator",
      "second-factor/renew-codes",
      "workspaces/require-mfa",
    ],
    open: async (page, check) => {
      await click(page, "Save");
      await page.getByRole("region", { name: "Notices" }).getByRole("listitem").hover();
      await check();
      await click(page, "Use a code by mail");
      await expect(page.getByText("We sent a code to")).toBeVisible();
      await check();
      await click(page, "Add an authenticator");
      await check();
      await click(page, "Continue");
      const secret = await page.getByLabel("secret", { exact: true }).inputValue();
      await earlyInStep();
      const code = page.getByRole("textbox", { name: "Code", exact: true });
      await code.fill("000000");
      await click(page, "Confirm the code");
      await expect(page.getByText("This code is wrong, or has been used.")).toBeVisible();
      await check();
      await code.fill(codeOf(secret, -1));
      await click(page, "Confirm the code");
      await expect(page.getByRole("list", { name: "Recovery codes" })).toBeVisible();
      await check();
      await click(page, "I have stored them");
      await expect(page.getByText("10 of 10 are left.")).toBeVisible();
      await ask(page, check, "Create new codes");
      await click(page, "Remove Authenticator app");
      await shown(page, "dialog");
      await check();
      await page.goto(page.url().replace("/account", ""));
      await page.getByLabel("Require two-factor authentication").click();
      await shown(page, "alertdialog");
      await check();
    },
  },
];

test("Keeps every dialog, menu and unfolded part accessible in both themes, and within the screen", {
  tag: "@phone",
}, async ({ page, world }) => {
  test.setTimeout(400_000);
  const { slug } = await setScene(world);
  const { email } = await signUp(page);
  await setRole(world, slug, email, "owner");
  for (const { path, open } of all)
    await test.step(path, async () => {
      await page.goto(`/${slug}${path}`);
      await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
      let checks = 0;
      await open(page, async () => {
        checks += 1;
        await expectUsable(page);
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
  expect(all.flatMap((each) => each.files).sort()).toEqual(files.sort());
});
