import { screen, waitFor, within } from "@testing-library/react";
import { expect, test } from "vitest";
import AddCostDialog from "@/components/activity/add-cost-dialog";
import InviteDialog from "@/components/members/invite-dialog";
import { createInvitationRequest } from "@/lib/contract/access/invitations";
import { ingestRequest } from "@/lib/contract/ledger/message";
import { ServiceError } from "@/lib/errors";
import { answerApi, describeError, readBody } from "./api";
import { describedBy, show } from "./render";

/** Answers a message by hand as the service does: with what is wrong with it, or as recorded. */
function answerByHand() {
  return answerApi({
    "GET /api/v1/workspaces/acme/projects": () => ({ projects: [] }),
    "POST /api/v1/workspaces/acme/messages/batch": ({ body }) => {
      const [message] = (body as { messages: unknown[] }).messages;
      try {
        readBody(ingestRequest, message);
        return { results: [{ index: 0, status: 201, amount_usd: 12.34 }] };
      } catch (error) {
        if (!(error instanceof ServiceError)) throw error;
        return { results: [{ index: 0, status: error.status, ...describeError(error) }] };
      }
    },
  });
}

test("A refused form puts the focus on its first invalid field, at every attempt", async () => {
  answerByHand();
  const user = show(<AddCostDialog workspace="acme" environment="live" onClose={() => {}} />);
  const dialog = within(screen.getByRole("dialog", { name: "Add a cost" }));
  const record = () => user.click(dialog.getByRole("button", { name: "Record" }));
  const project = dialog.getByRole("combobox", { name: "Project" });
  const vendor = dialog.getByLabelText("Paid to");
  await record();
  await waitFor(() => expect(document.activeElement).toBe(project));
  expect(project.getAttribute("aria-invalid")).toBe("true");
  await user.type(project, "checkout");
  for (let attempt = 0; attempt < 2; attempt += 1) {
    await record();
    await waitFor(() => expect(document.activeElement).toBe(vendor));
    expect(project.getAttribute("aria-invalid")).toBe(null);
    expect(vendor.getAttribute("aria-invalid")).toBe("true");
  }
});

test("Sends an amount as it was typed, and shows what is wrong with one beside its field", async () => {
  const calls = answerByHand();
  let isClosed = false;
  const user = show(
    <AddCostDialog
      workspace="acme"
      environment="live"
      onClose={() => {
        isClosed = true;
      }}
    />,
  );
  const dialog = within(screen.getByRole("dialog", { name: "Add a cost" }));
  const record = () => user.click(dialog.getByRole("button", { name: "Record" }));
  const amount = dialog.getByLabelText("Amount");
  await user.type(dialog.getByRole("combobox", { name: "Project" }), "checkout");
  await user.type(dialog.getByLabelText("Paid to"), "Figma");
  await user.type(amount, "twelve");
  await record();
  await waitFor(() => expect(describedBy(amount)).toBe("Must be a number."));
  await user.clear(amount);
  await user.type(amount, "12.34");
  await record();
  await waitFor(() => expect(isClosed).toBe(true));
  expect(calls.at(-1)?.body).toMatchObject({
    messages: [{ project: "checkout", source: "manual", message: { vendor: "Figma", amount: 12.34 } }],
  });
  const keys = calls
    .filter(({ method }) => method === "POST")
    .map(({ body }) => (body as { messages: { idempotency_key: string }[] }).messages[0]?.idempotency_key);
  expect(new Set(keys).size, "every attempt with one form has the same key").toBe(1);
});

test("A refused invitation puts the focus on the address that is wrong", async () => {
  answerApi({
    "POST /api/v1/workspaces/acme/invitations": ({ body }) => readBody(createInvitationRequest, body),
  });
  const user = show(<InviteDialog workspace="acme" name="Acme" onClose={() => {}} />);
  const email = screen.getByLabelText("Only for this e-mail address");
  await user.type(email, "nobody");
  await user.click(screen.getByRole("button", { name: "Create the link" }));
  await waitFor(() => expect(document.activeElement).toBe(email));
  expect(describedBy(email)).toMatch(/Must be an e-mail address/);
});
