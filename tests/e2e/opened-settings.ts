import { codeOf, earlyInStep } from "@/tests/helpers/authenticator";
import { expect } from "./fixtures";
import { ask, choose, click, inspect, type Opened, shown } from "./opened";

/** What opens on the pages of alerts, connections, keys and settings. */
export const ofSettings: Opened[] = [
  {
    path: "/alerts",
    files: ["alerts/assign-dialog", "alerts/snooze-dialog"],
    open: async (page, check) => {
      const actions = "Actions for The key Test key is near its monthly limit";
      await choose(page, actions, "Assign");
      await inspect(page, check, "Assign");
      await choose(page, actions, "Snooze");
      await inspect(page, check, "Snooze Test key");
    },
  },
  {
    path: "/alerts/rules",
    files: [
      "alerts/channel-actions",
      "alerts/channel-log",
      "alerts/edit-channel-dialog",
      "alerts/edit-rule-dialog",
      "alerts/new-channel-dialog",
      "alerts/signing-secret-dialog",
    ],
    open: async (page, check) => {
      const actions = "Actions for Finance hook";
      for (const [item, name] of [
        ["Deliveries", "Deliveries of Finance hook"],
        ["Edit", "Edit Finance hook"],
      ] as const) {
        await choose(page, actions, item);
        await inspect(page, check, name);
      }
      await ask(page, check, actions, "Delete");
      await choose(page, "Actions for Key near its limit", "Change when it fires");
      await inspect(page, check, "Key near its limit");
      await click(page, "Snooze Test key");
      await inspect(page, check, "Snooze Test key");
      await click(page, "Add a channel");
      const dialog = page.getByRole("dialog", { name: "Add a channel" });
      await dialog.getByLabel("When?").selectOption("As a weekly digest");
      await check();
      await dialog.getByLabel("Kind").selectOption("Slack");
      await expect(dialog.getByLabel("Signing secret")).toBeVisible();
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
    path: "/connections",
    files: ["connections/connection-table"],
    open: (page, check) => ask(page, check, /^Disconnect /),
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
      await inspect(page, check, "Edit Claude Code");
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
    path: "/settings",
    files: [
      "deletion/delete-dialog",
      "workspaces/leave-workspace",
      "workspaces/time-zone-setting",
      "workspaces/transfer-ownership",
    ],
    open: async (page, check) => {
      await page.getByRole("combobox", { name: "Time zone" }).fill("Asia/Tokyo");
      await page.getByRole("option", { name: "Asia/Tokyo" }).click();
      await ask(page, check, "Use Asia/Tokyo");
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
    path: "/settings/books",
    files: ["books/closing-dialogs"],
    open: async (page, check) => {
      await ask(page, check, /^Close \w+ \d{4}$/);
      await click(page, /^Reopen \w+ \d{4}$/);
      const dialog = page.getByRole("dialog", { name: /^Reopen/ });
      await dialog.getByRole("button", { name: "Reopen" }).click();
      await expect(dialog.getByLabel("Reason")).toHaveAccessibleDescription(/is required/i);
      await inspect(page, check, /^Reopen/);
    },
  },
  {
    path: "/settings/bills",
    files: [
      ...["bills/account-actions", "bills/add-account", "bills/add-bill", "bills/delete-bill"],
      ...["bills/register-telemetry", "bills/telemetry-actions"],
    ],
    open: async (page, check) => {
      await ask(page, check, /^Delete /);
      await ask(page, check, "Remove OpenAI");
      await ask(page, check, "Stop Anthropic from sending its calls");
      await click(page, "Have OpenRouter send its calls");
      await inspect(page, check, "Have OpenRouter send its calls");
      await click(page, "Add a provider");
      const account = page.getByRole("dialog", { name: "Add a provider" });
      await account.getByLabel("Provider", { exact: true }).selectOption("Anthropic");
      await account.getByRole("button", { name: "Add the provider" }).click();
      await expect(account.getByLabel("Admin key")).toHaveAccessibleDescription(/is required/i);
      await inspect(page, check, "Add a provider");
      await click(page, "Add a bill");
      const dialog = page.getByRole("dialog", { name: "Add a bill" });
      await dialog.getByLabel("File").setInputFiles({
        name: "costs.csv",
        mimeType: "text/csv",
        buffer: Buffer.from("day,model,cost,note\n2026-10-02,gpt-5,4,x"),
      });
      await dialog.getByRole("button", { name: "Check" }).click();
      await expect(dialog.getByLabel("Provider", { exact: true }).first()).toHaveAttribute(
        "aria-invalid",
        "true",
      );
      await dialog.getByText("Columns", { exact: true }).click();
      await check();
      await dialog.getByLabel("Provider", { exact: true }).first().fill("openai");
      await dialog.getByRole("button", { name: "Check" }).click();
      await expect(dialog.getByText("Not read: note.")).toBeVisible();
      await inspect(page, check, "Add a bill");
    },
  },
  {
    path: "/reconciliation?month=2026-10",
    files: ["bills/booking-dialog"],
    open: async (page, check) => {
      await click(page, "Book the difference");
      const dialog = page.getByRole("dialog", { name: "Book the difference" });
      await dialog.getByLabel("Project").fill("check");
      await page.getByRole("option", { name: "Checkout" }).click();
      await expect(dialog.getByRole("button", { name: /^Book \+/ })).toBeEnabled();
      await inspect(page, check, "Book the difference");
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
      // The call that sent the code has ended.
      await expect(page.getByRole("button", { name: "Send it again" })).toBeEnabled();
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
