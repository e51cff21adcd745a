import { screen, waitFor, within } from "@testing-library/react";
import { expect, test } from "vitest";
import { NewKeySheet } from "@/components/keys/key-sheet";
import { permissions } from "@/lib/contract/access/permissions";
import { show } from "./render";

test("Sums up in a sentence what a key may do, as its form is filled in", async () => {
  const user = show(
    <NewKeySheet workspace="acme" grantable={permissions} onClose={() => {}} onCreated={() => {}} />,
  );
  const sheet = within(screen.getByRole("dialog", { name: "Create a key" }));
  const sentence = sheet.getByRole("status");
  expect(sentence.textContent).toBe("May log usage in every project.");
  await user.click(sheet.getByRole("radio", { name: /^Read-only assistant/ }));
  expect(sentence.textContent).toBe("May read summaries in every project.");
  await user.click(sheet.getByRole("radio", { name: /^Something else/ }));
  await user.click(sheet.getByRole("checkbox", { name: /^Log usage/ }));
  await user.click(sheet.getByText("All but some"));
  await user.type(sheet.getByLabelText("Excluded projects"), "search{Enter}");
  await user.type(sheet.getByLabelText(/^How much per month/), "1,250.50");
  await user.click(sheet.getByText("More limits"));
  await user.type(await sheet.findByLabelText(/^Requests in any 60 seconds/), "60");
  await waitFor(() =>
    expect(sentence.textContent).toBe(
      "May log usage and read summaries in every project but search, up to $1,250.50 a month, at most 60 requests a minute.",
    ),
  );
});
