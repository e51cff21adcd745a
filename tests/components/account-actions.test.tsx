import { screen, waitFor } from "@testing-library/react";
import { expect, test } from "vitest";
import { AccountActions } from "@/components/bills/account-actions";
import { answerApi } from "./api";
import { show } from "./render";

test("Asks before it removes a provider with the focus on Cancel, and keeps its bills", async () => {
  const calls = answerApi({ "DELETE /api/v1/workspaces/acme/provider-accounts/a": () => ({}) });
  const user = show(
    <AccountActions
      workspace="acme"
      id="a"
      name="OpenAI"
      isPulling={false}
      isHeld={false}
      isRegistered={false}
    />,
  );
  const open = screen.getByRole("button", { name: "Remove OpenAI" });
  await user.click(open);
  expect(document.activeElement).toBe(screen.getByRole("button", { name: "Cancel" }));
  await user.keyboard(" ");
  expect(screen.queryByRole("alertdialog")).toBeNull();
  await user.click(open);
  await user.click(screen.getByRole("button", { name: "Remove the account" }));
  await waitFor(() => expect(screen.queryByRole("alertdialog")).toBeNull());
  expect(calls.map(({ query }) => query.get("bills"))).toEqual(["keep"]);
});
