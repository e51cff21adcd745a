import { screen, waitFor, within } from "@testing-library/react";
import { afterEach, expect, test, vi } from "vitest";
import type { ExploreData } from "@/components/explore/data";
import { ExploreSummary } from "@/components/explore/explore-summary";
import { readState } from "@/components/explore/state";
import { show } from "./render";

const sums = (measured: string, messages = 1) => ({ cost: measured, messages, measured });
const group = (label: string, measured: string) => ({
  value: label,
  label,
  isRest: false,
  colour: "red",
  ...sums(measured),
});
const change = (before: string, difference: string) => ({ before, difference, isNew: before === "0" });
const data: ExploreData = {
  from: "2026-11-01",
  to: "2026-11-03",
  totals: sums("100", 3),
  rows: [
    group("مشروع", "75"),
    group("search", "24.8"),
    { ...group("Other (15)", "0.2"), isRest: true, value: null },
  ],
  columns: [group("2026-11-01", "60"), group("2026-11-02", "40")],
  cells: [
    { row: 0, column: 0, ...sums("60") },
    { row: 0, column: 1, ...sums("15") },
    { row: 1, column: 1, ...sums("24.8") },
  ],
  comparison: {
    stretch: { from: "2026-10-01", to: "2026-10-03", until: null, aligned_by: "day", is_estimate: false },
    totals: change("50", "50"),
    rows: [change("1", "74"), change("49", "-24.2"), change("0", "0.2")],
    gone: null,
  },
};
const shown = (more: Record<string, string>) => (
  <ExploreSummary workspace="acme" state={readState(more)} data={data} />
);
const textsOf = (row: HTMLElement) =>
  [...row.querySelectorAll("th, td")].map((cell) => cell.textContent?.trim());

afterEach(() => vi.unstubAllGlobals());

test("Has a row for each series with its total, share and change, and the total of all", () => {
  show(shown({}));
  const rows = within(screen.getByRole("table", { name: "Summary" }))
    .getAllByRole("row")
    .map(textsOf);
  expect(rows[0]).toEqual(["Project", "Cost", "Share", "Change", "Messages"]);
  expect(rows[1]).toEqual(["مشروع", "$75.00", "75%", "+$74.00 up 75×", "1"]);
  expect(rows[2]).toEqual(["search", "$24.80", "25%", "−$24.20 down 49%", "1"]);
  expect(rows[3]).toEqual(["Other (15)", "$0.20", "< 1%", "new", "1"]);
  expect(rows[4]).toEqual(["Total", "$100.00", "100%", "+$50.00 up 100%", "3"]);
});

test("Unfolds a row to its days, and folds it away again", async () => {
  const user = show(shown({}));
  const button = screen.getByRole("button", { name: "مشروع" });
  expect(button.getAttribute("aria-expanded")).toBe("false");
  await user.click(button);
  expect(button.getAttribute("aria-expanded")).toBe("true");
  const day = screen.getByRole("row", { name: /2026-11-02/ });
  expect(textsOf(day)).toEqual(["2026-11-02", "$15.00", "20%", "", "1"]);
  expect(within(day).getByRole("link").getAttribute("href")).toContain("from=2026-11-02&to=2026-11-02");
  await user.click(button);
  expect(screen.queryByRole("row", { name: /2026-11-02/ })).toBe(null);
});

test("Reads the highest values of a row when it is unfolded, and again after a failure", async () => {
  const asked: unknown[] = [];
  const answer = {
    rows: {
      dimension: "model",
      rest_count: 1,
      groups: [
        { value: "own", name: "own", is_rest: false, cost_usd: 70, message_count: 2, measured: 70 },
        { value: null, name: null, is_rest: true, cost_usd: 5, message_count: 1, measured: 5 },
      ],
    },
  };
  vi.stubGlobal("fetch", async (_: string, { body }: { body: string }) => {
    asked.push(JSON.parse(body));
    if (asked.length === 1)
      return Response.json({ error: "unavailable", error_description: "Try later." }, { status: 503 });
    return Response.json(answer);
  });
  const user = show(shown({ over: "model" }));
  await user.click(screen.getByRole("button", { name: "Other (15)" }));
  await waitFor(() => expect(screen.getByRole("alert").textContent).toContain("Try"));
  await user.click(screen.getByRole("button", { name: "Try again" }));
  await waitFor(() => expect(screen.getByRole("row", { name: /^own/ })).toBeTruthy());
  expect(screen.getByRole("row", { name: /Other \(1\)/ }).textContent).toContain("$5.00");
  expect(asked[1]).toMatchObject({
    group_by: ["model"],
    filters: [{ field: "project", op: "is_not", values: ["مشروع", "search"] }],
    from: "2026-11-01",
    to: "2026-11-03",
  });
});
