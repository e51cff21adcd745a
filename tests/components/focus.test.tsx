import { act, screen, waitFor, within } from "@testing-library/react";
import { useEffect, useState } from "react";
import { expect, test } from "vitest";
import { AskForMore } from "@/components/budgets/ask-for-more";
import { RequestList } from "@/components/budgets/request-list";
import { Dialog, DialogContent, DialogTitle } from "@/components/ui/dialog";
import { budgetExamples } from "@/lib/contract/examples/budgets";
import { askForBudget, type BudgetRequest, decideBudgetRequest } from "@/lib/contract/spend/budget-requests";
import { answerApi, readBody } from "./api";
import { show } from "./render";

const path = "/api/v1/workspaces/acme/budget-requests";
const request = budgetExamples.responses.BudgetRequest as unknown as BudgetRequest;
const pending: BudgetRequest = {
  ...request,
  state: "pending",
  decision: null,
  can_decide: true,
  can_withdraw: false,
};
const approved: BudgetRequest = { ...request, can_decide: false, can_withdraw: false };

const limit = {
  kind: "budget" as const,
  id: request.budget?.id ?? "",
  name: "Checkout",
  limit: "100",
  currency: "USD",
};

/** The page of requests. `page.read` gives it what reading it again answers. */
function RequestsPage({
  page,
  mayAsk,
}: {
  page: { requests: BudgetRequest[]; read?: (requests: BudgetRequest[]) => void };
  mayAsk: boolean;
}) {
  const [requests, setRequests] = useState(page.requests);
  useEffect(() => {
    page.read = setRequests;
  }, [page]);
  const waiting = requests.filter(({ state }) => state === "pending");
  const decided = requests.filter(({ state }) => state !== "pending");
  return (
    <>
      {mayAsk ? <AskForMore workspace="acme" limits={[limit]} chosen={undefined} today="2026-11-28" /> : null}
      {waiting.length > 0 ? <RequestList workspace="acme" requests={waiting} label="Waiting" /> : null}
      {decided.length > 0 ? <RequestList workspace="acme" requests={decided} label="Decided" /> : null}
    </>
  );
}

/** Shows the page of requests, to a reader who may ask or to one who decides. */
function showRequests(requests: BudgetRequest[], mayAsk: boolean) {
  const page: Parameters<typeof RequestsPage>[0]["page"] = { requests };
  const user = show(<RequestsPage page={page} mayAsk={mayAsk} />);
  return { user, read: (answer: BudgetRequest[]) => act(async () => page.read?.(answer)) };
}

/** Asks for more, until the form is empty again. */
async function ask(user: ReturnType<typeof show>) {
  await user.type(screen.getByLabelText("How much more?"), "50");
  await user.type(screen.getByLabelText("What is it for?"), "Backfill");
  await user.click(screen.getByRole("button", { name: "Ask for more" }));
  await waitFor(() => expect(screen.getByLabelText<HTMLInputElement>("How much more?").value).toBe(""));
}

test("Focuses the row of a request once the page shows it", async () => {
  answerApi({
    [`POST ${path}`]: ({ body }) => {
      readBody(askForBudget, body);
      return pending;
    },
  });
  const { user, read } = showRequests([], true);
  await ask(user);
  await read([pending]);
  await waitFor(() => expect(document.activeElement).toBe(screen.getByRole("listitem")));
});

test("Leaves the focus where the reader has moved it before the row of a request is shown", async () => {
  answerApi({ [`POST ${path}`]: () => pending });
  const { user, read } = showRequests([], true);
  await ask(user);
  screen.getByLabelText("What is it for?").focus();
  await read([pending]);
  expect(document.activeElement).toBe(screen.getByLabelText("What is it for?"));
});

test("Keeps the focus on a request that is approved, also when it has moved to the decided ones", async () => {
  answerApi({
    [`POST ${path}/${request.id}/decision`]: ({ body }) => {
      readBody(decideBudgetRequest, body);
      return approved;
    },
  });
  const { user, read } = showRequests([pending], false);
  await user.click(screen.getByRole("button", { name: "Approve" }));
  await waitFor(() => expect(document.activeElement).toBe(screen.getByRole("listitem")));
  await read([approved]);
  const row = within(screen.getByRole("list", { name: "Decided" })).getByRole("listitem");
  await waitFor(() => expect(document.activeElement).toBe(row));
});

/** A dialog whose button is disabled by its first click, and replaced by the second. */
function Sheet() {
  const [step, setStep] = useState(0);
  return (
    <Dialog open onOpenChange={() => {}}>
      <DialogContent>
        <DialogTitle>Message {step}</DialogTitle>
        <button type="button" key={Math.max(step, 1)} disabled={step === 1} onClick={() => setStep(step + 1)}>
          Void
        </button>
        {step === 1 ? (
          <button type="button" onClick={() => setStep(2)}>
            Go on
          </button>
        ) : null}
      </DialogContent>
    </Dialog>
  );
}

test("Focuses the title of a dialog whose content is replaced, and not one whose button is disabled", async () => {
  const user = show(<Sheet />);
  const title = () => screen.getByRole("heading");
  await user.click(screen.getByRole("button", { name: "Void" }));
  expect(title().textContent).toBe("Message 1");
  expect(document.activeElement).not.toBe(title());
  await user.click(screen.getByRole("button", { name: "Go on" }));
  await waitFor(() => expect(document.activeElement).toBe(title()));
});
