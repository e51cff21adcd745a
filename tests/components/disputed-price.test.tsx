import { cleanup, screen, within } from "@testing-library/react";
import { expect, test } from "vitest";
import { RecommendationCards } from "@/components/recommendations/recommendation-list";
import { Toaster } from "@/components/ui/toaster";
import { recommendationExamples } from "@/lib/contract/examples/recommendations";
import { decideRecommendation, type RecommendationList } from "@/lib/contract/spend/recommendations";
import { ServiceError } from "@/lib/errors";
import { answerApi, readBody } from "./api";
import { show } from "./render";

// This document has no popovers, in which notices are shown.
HTMLElement.prototype.showPopover ??= () => {};

const list = recommendationExamples.responses.RecommendationList as unknown as RecommendationList;
const [disputed] = list.recommendations.filter(({ kind }) => kind === "disputed_price");
if (!disputed) throw new Error("There is no example of a disputed price.");
const path = `/api/v1/workspaces/acme/recommendations/${disputed.id}/decision`;
const decided = { by: { id: "u", name: "Ada" }, at: "2026-11-22T09:30:00.000Z", reason: null, until: null };
const accepted = { ...disputed, state: "accepted", decision: decided } as unknown as typeof disputed;

const cards = (recommendation: typeof disputed, canDecide = true) => (
  <>
    <RecommendationCards
      workspace="acme"
      recommendations={[recommendation]}
      label="Open disputed prices"
      canDecide={canDecide}
    />
    <Toaster />
  </>
);

test("Says both prices and how much more or less the other one is, and nothing of a saving", () => {
  show(cards(disputed));
  const text = screen.getByRole("list", { name: "Open disputed prices" }).textContent;
  expect(text).toContain("$12.40 more in 30 days");
  expect(text).toContain("recorded $68.20, would have been $80.60 at the price of litellm");
  expect(text?.split("How it is computed")[0]).not.toMatch(/saved|-\$/);
  const [price] = within(screen.getByRole("list", { name: "Disputed prices" })).getAllByRole("listitem");
  expect(price?.textContent).toBe(
    "input_tokens: $0.88 a million (genai-prices, in use), $1.04 a million (litellm)",
  );
  cleanup();
  show(cards({ ...disputed, saving_usd: 10.8 }));
  expect(screen.getByRole("list", { name: "Open disputed prices" }).textContent).toContain(
    "$10.80 less in 30 days",
  );
});

test("Its button names the other catalogue and sets its price, or says why it cannot", async () => {
  let isChanged = true;
  let decision: unknown;
  answerApi({
    [`POST ${path}`]: ({ body }) => {
      decision = readBody(decideRecommendation, body);
      if (isChanged) throw new ServiceError("conflict", "These are not the disputed prices any more.");
      return accepted;
    },
  });
  const user = show(cards(disputed));
  await user.click(screen.getByRole("button", { name: /^Use the price of litellm/ }));
  expect(await screen.findByText("These are not the disputed prices any more.")).toBeTruthy();
  isChanged = false;
  await user.click(screen.getByRole("button", { name: /^Use the price of litellm/ }));
  expect(
    await screen.findByText("The price is set. Usage since the first of this month is being corrected."),
  ).toBeTruthy();
  expect(decision).toEqual({ decision: "accept" });
});

test("Offers no decision of a price that is settled, but the own prices, and none to a member", () => {
  show(cards(accepted));
  expect(screen.queryByRole("button", { name: /Reopen|Use the price|Decline/ })).toBeNull();
  expect(screen.getByRole("link", { name: "Show your own prices" }).getAttribute("href")).toBe(
    "/acme/settings/prices",
  );
  cleanup();
  show(cards(disputed, false));
  expect(screen.queryByRole("button", { name: /Use the price|Decline|Remind/ })).toBeNull();
});
