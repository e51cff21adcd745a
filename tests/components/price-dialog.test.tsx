import { screen, waitFor, within } from "@testing-library/react";
import { expect, test } from "vitest";
import PriceDialog from "@/components/prices/price-dialog";
import { startFromPrice, startFromUnpriced } from "@/components/prices/price-view";
import { setPriceRequest } from "@/lib/contract/ledger/prices";
import { validationFailed } from "@/lib/errors";
import { answerApi, readBody } from "./api";
import { describedBy, show } from "./render";

const usage = {
  provider: "in-house",
  model: "ranker-7b",
  line_count: 1,
  last_occurred_at: "2026-11-20T10:00:00Z",
};
const unpriced = [
  { ...usage, unit_type: "input_tokens", quantity: "500", first_occurred_at: "2026-11-18T10:00:00Z" },
  { ...usage, unit_type: "output_tokens", quantity: "20", first_occurred_at: "2026-11-12T10:00:00Z" },
  { ...usage, model: "other", unit_type: "images", quantity: "3", first_occurred_at: "2026-11-01T10:00:00Z" },
];
const start = startFromUnpriced(
  { ...unpriced[0], model: "Ranker-7B" } as (typeof unpriced)[number],
  unpriced,
);
const path = "PUT /api/v1/workspaces/acme/prices";
const unit = (name: string) => within(screen.getByRole("group", { name }));
const rateOf = (name: string) => unit(name).getByLabelText("Price, US dollars");
const set = () => screen.getByRole("button", { name: "Set the price" });

test("Sets the prices of all units of a model at once, and corrects priced usage once, after the last", async () => {
  const sent: unknown[] = [];
  answerApi({ [path]: ({ body }) => sent.push(readBody(setPriceRequest, body)) });
  const user = show(<PriceDialog workspace="acme" start={start} onClose={() => {}} />);
  await user.type(rateOf("input_tokens"), "2500");
  expect(screen.getByRole("status").textContent).toBe("The usage without a price will cost $1.25.");
  await user.type(rateOf("output_tokens"), "10000");
  expect(screen.getByRole("status").textContent).toBe("The usage without a price will cost $1.45.");
  await user.click(screen.getByRole("button", { name: "Add a unit" }));
  const added = unit("Unit 3");
  await user.type(added.getByLabelText("Unit"), "web_searches");
  await user.type(unit("web_searches").getByLabelText("Price, US dollars"), "10");
  await user.selectOptions(unit("web_searches").getByLabelText("For"), "a thousand units");
  await user.click(screen.getByRole("checkbox", { name: /^Also correct usage/ }));
  await user.click(set());
  await waitFor(() => expect(sent).toHaveLength(3));
  const shared = { provider: "in-house", model: "Ranker-7B", starts_at: "2026-11-12T00:00:00Z" };
  expect(sent.map((body) => JSON.parse(JSON.stringify(body)))).toMatchObject([
    { ...shared, unit_type: "input_tokens" },
    { ...shared, unit_type: "output_tokens" },
    { ...shared, unit_type: "web_searches", reprice: { from: "2026-11-12T00:00:00Z" } },
  ]);
  expect(sent.map((body) => String((body as { rate: unknown }).rate))).toEqual(["0.0025", "0.01", "0.01"]);
  expect(sent.slice(0, 2).every((body) => !(body as { reprice?: unknown }).reprice)).toBe(true);
});

test("Leaves out units without a price, and shows a refusal at the unit that it is about", async () => {
  const calls = answerApi({
    [path]: () => {
      throw validationFailed([{ path: "unit_type", message: "must have at most 64 characters" }]);
    },
  });
  const user = show(<PriceDialog workspace="acme" start={start} onClose={() => {}} />);
  await user.click(set());
  await waitFor(() => expect(describedBy(rateOf("input_tokens"))).toMatch(/Must be an amount/));
  await user.type(rateOf("output_tokens"), "1");
  await user.click(set());
  await waitFor(() =>
    expect(describedBy(unit("output_tokens").getByLabelText("Unit"))).toMatch(/at most 64/),
  );
  expect(calls.map(({ body }) => (body as { unit_type: string }).unit_type)).toEqual(["output_tokens"]);
});

test("Starts from the latest price of each unit of the model", () => {
  const price = { id: "1", provider: "openai", model: "gpt-4o", created_at: "2026-11-01T00:00:00Z" };
  const old = { ...price, unit_type: "output_tokens", rate: "0.00001", starts_at: "2026-01-01T00:00:00Z" };
  const prices = [
    { ...price, unit_type: "input_tokens", rate: "0.000002", starts_at: "2026-01-01T00:00:00Z" },
    old,
    { ...old, rate: "0.00002", starts_at: "2026-06-01T00:00:00Z" },
    { ...old, model: "gpt-5", unit_type: "images" },
  ];
  const [first] = prices;
  if (!first) throw new Error("There is a price.");
  expect(startFromPrice(first, prices, "2026-11-24").units).toEqual([
    { unitType: "input_tokens", rate: "2", waiting: null },
    { unitType: "output_tokens", rate: "20", waiting: null },
  ]);
});
