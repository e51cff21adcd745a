import { screen, waitFor } from "@testing-library/react";
import { expect, test } from "vitest";
import NewBudgetDialog from "@/components/budgets/new-budget-dialog";
import { describedBy, show } from "./render";

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
