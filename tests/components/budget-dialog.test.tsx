import { cleanup, screen, waitFor } from "@testing-library/react";
import { expect, test, vi } from "vitest";
import type { z } from "zod";
import { BudgetCard } from "@/components/budgets/budget-card";
import type { EditableBudget } from "@/components/budgets/budget-view";
import EditBudgetDialog from "@/components/budgets/edit-budget-dialog";
import NewBudgetDialog from "@/components/budgets/new-budget-dialog";
import { budgetExamples } from "@/lib/contract/examples/budgets";
import {
  type budget as budgetSchema,
  createBudgetRequest,
  editBudgetRequest,
} from "@/lib/contract/spend/budgets";
import { validationFailed } from "@/lib/errors";
import { answerApi, readBody } from "./api";
import { describedBy, show } from "./render";

type Budget = z.output<typeof budgetSchema>;

const ada = "0193a0f7-1e44-7c02-a6d3-90b1f8e2d417";
const finance = "0193a0f7-1e44-7c02-a6d3-90b1f8e2d418";

test("Shows errors beside their fields and focuses the first", async () => {
  const user = show(<NewBudgetDialog workspace="acme" onClose={() => {}} />);
  const amount = screen.getByLabelText("How much per month?");
  const set = () => user.click(screen.getByRole("button", { name: "Set the budget" }));
  await user.type(amount, "lots");
  await set();
  await waitFor(() => expect(document.activeElement).toBe(amount));
  expect(describedBy(amount)).toMatch(/Must be an amount/);
  await user.clear(amount);
  await user.type(amount, "0");
  await set();
  await waitFor(() => expect(describedBy(amount)).toMatch(/Must be more than 0/));
  await user.clear(amount);
  await user.type(amount, "10");
  await user.selectOptions(screen.getByLabelText("What does it cover?"), "An API key");
  await set();
  const key = screen.getByRole("combobox", { name: "Which key?" });
  await waitFor(() => expect(describedBy(key)).toBe("Choose one."));
});

test("Says how thresholds are written, and asks for the amount of the chosen period", async () => {
  const user = show(<NewBudgetDialog workspace="acme" onClose={() => {}} />);
  await user.selectOptions(screen.getByLabelText("How often does it reset?"), "Every week");
  await user.type(screen.getByLabelText("How much per week?"), "5000");
  const thresholds = screen.getByLabelText("Alert at");
  await user.clear(thresholds);
  await user.type(thresholds, "soon");
  await user.click(screen.getByRole("button", { name: "Set the budget" }));
  await waitFor(() => expect(describedBy(thresholds)).toMatch(/Must be shares or amounts/));
});

const path = "/api/v1/workspaces/acme";

/** A preview as the service answers it. */
const preview = (more: object) => ({
  spent: 1101,
  amount: 1070,
  percent_used: 1.0289,
  period: "month",
  scope: { type: "global", value: null, label: "Everything" },
  alert_at: { percent: [50, 100], usd: [] },
  would_warn: [
    { level: "50", usd: 535, on: "2026-11-12" },
    { level: "100", usd: 1070, on: "2026-11-23" },
  ],
  would_refuse: null,
  is_known_scope: true,
  ...more,
});

test("Previews the budget while it is typed, once for what is typed, and never a wrong one", async () => {
  const calls = answerApi({
    [`POST ${path}/budgets/preview`]: ({ body }) =>
      preview(
        readBody(createBudgetRequest, body).blocks
          ? {
              would_refuse: {
                now: true,
                yesterday: { day: "2026-11-23", cost_count: 120, refused_count: 14 },
              },
            }
          : {},
      ),
  });
  const previews = () => calls.filter((call) => call.path.endsWith("/preview"));
  const user = show(<NewBudgetDialog workspace="acme" onClose={() => {}} />);
  const shown = screen.getByRole("region", { name: "Preview" });
  expect(shown.textContent).toMatch(/Enter a limit/);
  const amount = screen.getByLabelText("How much per month?");
  await user.type(amount, "1,070");
  await waitFor(() =>
    expect(shown.textContent).toContain("$1,101.00 of $1,070.00 is spent this month (103%)."),
  );
  expect(shown.textContent).toMatch(/would have warned at 50% on .*Nov 12.* and at 100% on .*Nov 23/);
  expect(previews().length).toBeLessThan(5);
  await user.selectOptions(
    screen.getByLabelText("What happens at the limit?"),
    "It warns and refuses to record",
  );
  await waitFor(() =>
    expect(shown.textContent).toContain(
      "It would refuse to record every cost now. Yesterday, it would have refused 14 of 120 costs.",
    ),
  );
  const before = previews().length;
  await user.clear(amount);
  await user.type(amount, "lots");
  expect(shown.textContent).toMatch(/Enter a limit/);
  expect(previews()).toHaveLength(before);
});

test("Asks before it sets a budget for a name that no cost has, and insists when it is sent again", async () => {
  const calls = answerApi({
    [`GET ${path}/metrics`]: () => ({ by_feature: [] }),
    [`POST ${path}/budgets/preview`]: () =>
      preview({ is_known_scope: false, scope: { type: "feature", value: "chta", label: "chta" } }),
    [`POST ${path}/budgets`]: ({ body }) => {
      if (readBody(createBudgetRequest, body).allow_unknown_scope) return { name: "chta" };
      throw validationFailed([
        {
          path: "scope_value",
          message: "no cost names the feature chta yet; send allow_unknown_scope: true",
        },
      ]);
    },
  });
  const closed = vi.fn();
  const user = show(<NewBudgetDialog workspace="acme" onClose={closed} />);
  await user.selectOptions(screen.getByLabelText("What does it cover?"), "A feature");
  const scope = screen.getByRole("combobox", { name: "Which feature?" });
  await user.type(scope, "chta");
  await user.type(screen.getByLabelText("How much per month?"), "10");
  await waitFor(() =>
    expect(screen.getByRole("region", { name: "Preview" }).textContent).toContain("No cost names chta yet."),
  );
  await user.click(screen.getByRole("button", { name: "Set the budget" }));
  await waitFor(() => expect(describedBy(scope)).toMatch(/No cost names chta yet\. Correct it, or set/));
  expect(closed).not.toHaveBeenCalled();
  await user.click(screen.getByRole("button", { name: "Set the budget anyway" }));
  await waitFor(() => expect(closed).toHaveBeenCalled());
  const sent = calls.filter((call) => call.method === "POST" && call.path.endsWith("/budgets"));
  expect(sent.map(({ body }) => (body as { allow_unknown_scope?: boolean }).allow_unknown_scope)).toEqual([
    undefined,
    true,
  ]);
});

/** A budget as the page hands it to its dialog. */
const editable = (more: Partial<EditableBudget>): EditableBudget => ({
  ...{ id: "b", name: "All", period: "month", amount: "10", raise: null, percents: ["80"], amounts: [] },
  ...{ blocks: false, currency: "EUR", warns: { people: [], channels: [], falls_back: false }, owner: null },
  fixed: {
    ...{ scope_type: "project", scope_value: "checkout", period: "month", week_starts_on: "monday" },
    ...{ time_zone: "Europe/Berlin", currency: "EUR" },
  },
  ...more,
});

test("Says of a budget what it would show with another limit, and with a raise", async () => {
  const asked: z.output<typeof createBudgetRequest>[] = [];
  answerApi({
    [`POST ${path}/budgets/preview`]: ({ body }) => {
      asked.push(readBody(createBudgetRequest, body));
      return preview({});
    },
  });
  const user = show(<EditBudgetDialog workspace="acme" budget={editable({})} onClose={() => {}} />);
  const said = screen.getByRole("region", { name: "Preview" });
  await waitFor(() => expect(said.textContent).toContain("$1,101.00 of $1,070.00 is spent this month"));
  expect(asked).toMatchObject([
    {
      ...{ scope_type: "project", scope_value: "checkout", time_zone: "Europe/Berlin", currency: "EUR" },
      ...{ amount: "10", alert_at: { percent: ["80"] }, raise: null },
    },
  ]);
  const amount = screen.getByLabelText("How much per month?");
  await user.clear(amount);
  await user.type(amount, "25");
  await waitFor(() => expect(asked.at(-1)).toMatchObject({ amount: "25", raise: null }));
  await user.type(screen.getByLabelText("Raised limit"), "40");
  await user.type(screen.getByLabelText("Raised through"), "2026-12-31");
  await waitFor(() => expect(asked.at(-1)?.raise).toEqual({ amount: "40", until: "2026-12-31" }));
});

test("Chooses people and channels that the budget warns, and shows those it warns already", async () => {
  const calls = answerApi({
    [`GET ${path}/org`]: () => ({
      members: [{ user_id: ada, display_name: "Ada", email: "ada@example.com" }],
    }),
    [`GET ${path}/alert-channels`]: () => ({ channels: [{ id: finance, name: "Finance" }] }),
    [`PATCH ${path}/budgets/b`]: ({ body }) => ({ name: "All", ...readBody(editBudgetRequest, body) }),
  });
  const budget = editable({ warns: { people: [{ id: ada, name: "Ada" }], channels: [], falls_back: false } });
  const user = show(<EditBudgetDialog workspace="acme" budget={budget} onClose={() => {}} />);
  const field = screen.getByRole("combobox", { name: "Whom does it warn?" });
  expect(screen.getByRole("button", { name: "Remove Ada" })).toBeDefined();
  await user.click(field);
  await user.click(await screen.findByRole("option", { name: /Finance/ }));
  await user.click(screen.getByRole("button", { name: "Remove Ada" }));
  await user.click(screen.getByRole("button", { name: "Save" }));
  await waitFor(() =>
    expect(calls.find(({ method }) => method === "PATCH")?.body).toMatchObject({
      warns: { people: [], channels: [finance] },
    }),
  );
});

test("A budget says whom it warns, and that it falls back when they are gone", () => {
  const card = (warns: object) => {
    const budget = { ...Object(budgetExamples.responses?.Budget), warns } as unknown as Budget;
    show(<BudgetCard budget={budget} workspace="acme" reached={[]} actions={null} />);
    const text = screen.getByRole("region", { name: "Checkout" }).textContent;
    cleanup();
    return text;
  };
  expect(card({ people: [], channels: [], falls_back: false })).not.toMatch(/Warns Ada|has left/);
  expect(
    card({
      people: [{ id: ada, name: "Ada" }],
      channels: [{ id: finance, name: "Finance", is_off: true }],
      falls_back: false,
    }),
  ).toContain("Warns Ada and Finance (turned off)");
  expect(card({ people: [], channels: [], falls_back: true })).toMatch(/has left or is turned off/);
});

test("Says of a budget what limits refused, and nothing where they refused nothing", () => {
  const budget = Object(budgetExamples.responses?.Budget) as Budget;
  for (const [refused, said] of [
    [7.25, "$7.25 refused by limits; it may have been spent"],
    [0, undefined],
  ] as const) {
    show(
      <BudgetCard
        budget={{ ...budget, refused_usd: refused }}
        workspace="acme"
        reached={[]}
        actions={null}
      />,
    );
    const text = screen.getByRole("region").textContent ?? "";
    if (said) expect(text).toContain(said);
    else expect(text).not.toContain("refused");
    cleanup();
  }
});
