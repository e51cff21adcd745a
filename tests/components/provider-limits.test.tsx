import { cleanup, screen, waitFor } from "@testing-library/react";
import { expect, test } from "vitest";
import { toEditableBudget } from "@/components/budgets/budget-view";
import LinkLimitDialog from "@/components/budgets/link-limit-dialog";
import { ProviderLimits } from "@/components/budgets/provider-limits";
import type { ProviderLimit } from "@/lib/contract/bills/provider-limits";
import { linkProviderLimitRequest } from "@/lib/contract/bills/provider-limits";
import { billExamples } from "@/lib/contract/examples/bills";
import { budgetExamples } from "@/lib/contract/examples/budgets";
import { answerApi, readBody } from "./api";
import { show } from "./render";

const limit = billExamples.responses.ProviderLimit as unknown as ProviderLimit;
const path = "/api/v1/workspaces/acme";
const account = "7c0e8c52-7f0e-4d6a-8a52-0c8f3b6f2d10";

test("Names what the provider holds beside the budget's limit, and offers to set it again or to accept it", async () => {
  const user = show(<ProviderLimits limits={[limit]} workspace="acme" canEdit />);
  const [item] = screen.getAllByRole("listitem");
  expect(item?.textContent).toContain("OpenAI project Checkout");
  expect(item?.textContent).toContain("$300.00 a month there, $500.00 a month in the budget");
  await user.click(screen.getByRole("button", { name: "Actions for OpenAI project Checkout" }));
  expect(screen.getAllByRole("menuitem").map(({ textContent }) => textContent)).toEqual([
    "Check it now",
    "Set $500.00 a month there again",
    "Set the budget to $300.00 a month",
    "Unlink and remove the limit",
    "Unlink and leave the limit",
  ]);
  cleanup();
  show(
    <ProviderLimits
      limits={[{ ...limit, state: "refused", problem: "It answers 403: no." }]}
      workspace="acme"
      canEdit={false}
    />,
  );
  expect(screen.getByRole("listitem").textContent).toContain("It answers 403: no.");
  expect(screen.queryByRole("button")).toBeNull();
});

test("Links what is chosen of the provider's list, and says why the list could not be read", async () => {
  const budget = toEditableBudget(budgetExamples.responses.Budget as never);
  let linked: unknown;
  let problem: string | null = null;
  const targets = [
    { kind: "project", id: "proj:1", name: "Checkout", held: null, is_proposed: true, is_linked: false },
    { kind: "project", id: "proj:2", name: "Other", held: null, is_proposed: false, is_linked: true },
  ];
  answerApi({
    [`GET ${path}/provider-accounts`]: () => billExamples.responses.ProviderAccountList,
    [`GET ${path}/provider-accounts/${account}/limit-targets`]: () =>
      problem ? { targets: [], problem } : { targets, problem },
    [`POST ${path}/provider-limits`]: ({ body }) => {
      linked = readBody(linkProviderLimitRequest, body);
      return limit;
    },
  });
  let isClosed = false;
  const dialog = <LinkLimitDialog workspace="acme" budget={budget} onClose={() => (isClosed = true)} />;
  const user = show(dialog);
  const chosen = (await screen.findByLabelText("What is limited")) as HTMLSelectElement;
  await waitFor(() => expect(chosen.value).toBe("project:proj:1"));
  expect([...chosen.options].map(({ text, disabled }) => [text, disabled])).toEqual([
    ["Checkout, project", false],
    ["Other, project (linked to a budget)", true],
  ]);
  await user.click(screen.getByRole("button", { name: "Set the limit" }));
  await waitFor(() => expect(isClosed).toBe(true));
  expect(linked).toEqual({
    ...{ budget_id: budget.id, account_id: account, kind: "project", target_id: "proj:1" },
    target_name: "Checkout",
    removes_limit: true,
  });
  cleanup();
  problem = "It answers 401: Incorrect API key provided.";
  show(dialog);
  expect((await screen.findByText(/Incorrect API key/)).textContent).toContain("Limits need an admin key.");
});
