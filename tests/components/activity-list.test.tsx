import { act, fireEvent, screen, waitFor, within } from "@testing-library/react";
import { expect, onTestFinished, test, vi } from "vitest";
import { ActivityList } from "@/components/activity/activity-list";
import { ActivityTable } from "@/components/activity/activity-table";
import { MessageSheet } from "@/components/activity/message-sheet";
import type { ActivityItem } from "@/components/activity/row";
import { messageDetail, messageParams } from "@/lib/contract/spend/message-detail";
import { notFound } from "@/lib/errors";
import { answerApi, readBody } from "./api";
import { show } from "./render";

const path = "/api/v1/workspaces/acme";

/** A row of a message in a workspace. */
const row = (label: string, lineCount: number | null = null): ActivityItem => ({
  id: "0193a1b4-52c7-7d3a-8f10-4be2c6d90a51",
  part: 0,
  at: "2026-11-20T10:00:00Z",
  label,
  project: "search",
  feature: null,
  model: null,
  person: null,
  session: null,
  tags: null,
  emitter: null,
  quantity: null,
  about: "Usage",
  recordedBy: "CI",
  usd: "1",
  wholeUsd: null,
  hasNoPrice: false,
  isPartlyPriced: false,
  isIncluded: false,
  undone: null,
  lineCount,
});

/** A batch of 63 lines, one of them without a price. */
function answerBatch() {
  const line = {
    model: "bulk",
    feature: null as string | null,
    end_user: null,
    session: null,
    unit_type: "requests",
    quantity: 2,
    amount_usd: 0.001,
    cost_status: "client",
    list_price_usd: null,
    price: null,
  };
  const lines = [
    { ...line, model: "fast", feature: "chat", amount_usd: 0.25 },
    { ...line, model: "slow", feature: "search", amount_usd: 0.5 },
    { ...line, model: "unheard-of", amount_usd: 0, cost_status: "unpriced" },
    ...Array.from({ length: 60 }, () => line),
  ];
  answerApi({
    [`GET ${path}/messages/${row("").id}`]: () => ({ lines: readBody(messageDetail.shape.lines, lines) }),
  });
}

const linesShown = () => [...document.querySelectorAll("[data-line]")].map(({ textContent }) => textContent);

test("Unfolds a batch into its lines in place, by a click and by the keyboard", async () => {
  answerBatch();
  const user = show(
    <ActivityTable
      workspace="acme"
      shown={["time", "project"]}
      items={[row("b-9", 63), { ...row("Other"), part: 1 }]}
    />,
  );
  const table = within(screen.getByRole("table", { name: "Activity" }));
  const toggle = table.getByRole("button", { name: "63 lines of b-9" });
  expect(table.getAllByRole("button")).toHaveLength(1);
  expect(toggle.getAttribute("aria-expanded")).toBe("false");
  await user.click(toggle);
  expect(toggle.getAttribute("aria-expanded")).toBe("true");
  await waitFor(() => expect(linesShown()).toHaveLength(50));
  expect(linesShown()[0]).toContain("fast · chat");
  expect(linesShown()[2]).toContain("No price yet");
  await user.click(table.getByRole("button", { name: "Show all 63 lines" }));
  expect(linesShown()).toHaveLength(63);
  expect(location.search, "the message is not opened").toBe("");
  toggle.focus();
  await user.keyboard("{Enter}");
  expect(linesShown()).toEqual([]);
  await user.keyboard(" ");
  await waitFor(() => expect(linesShown()).toHaveLength(50));
});

test.each([
  ["feature=search", /^slow · search.*\$0\.50/],
  ["feature=&model=unheard-of", /^unheard-of/],
])("Unfolds the lines of a batch that match %s", async (filter, line) => {
  answerBatch();
  const user = show(<ActivityTable workspace="acme" shown={["time", "project"]} items={[row("b-9", 1)]} />, {
    address: `/acme/activity?${filter}`,
  });
  await user.click(screen.getByRole("button", { name: "1 line of b-9" }));
  await waitFor(() => expect(linesShown()).toEqual([expect.stringMatching(line)]));
});

test("Keeps the lines of a batch below the columns of its row, whichever are shown", async () => {
  answerBatch();
  const user = show(
    <ActivityTable
      workspace="acme"
      shown={["time", "project", "model", "person"]}
      items={[row("b-9", 63)]}
      selection={{
        ids: new Set(),
        hasAll: false,
        toggle: () => {},
        toggleShown: () => {},
        selectAll: () => {},
        clear: () => {},
      }}
    />,
  );
  await user.click(screen.getByRole("button", { name: "63 lines of b-9" }));
  await waitFor(() => expect(linesShown()).toHaveLength(50));
  const rows = screen.getAllByRole("row").slice(0, -1);
  expect(new Set(rows.map(({ children }) => children.length))).toEqual(new Set([7]));
  const places = rows.slice(2).map(({ children }) => [children[2]?.textContent, children[6]?.textContent]);
  expect(places[0]?.[0]).toContain("fast · chat");
  expect(places[2]?.[1]).toBe("No price yet");
});

test("Shows a message that does not exist, or is not of this workspace, as missing", async () => {
  const hidden = row("").id;
  for (const id of [hidden, "nonsense"]) {
    answerApi({
      [`GET ${path}/messages/${id}`]: () => {
        readBody(messageParams, { slug: "acme", id });
        throw notFound();
      },
    });
    show(<MessageSheet workspace="acme" />, { address: `/acme/activity?message=${id}` });
    expect(await screen.findByText("There is no such message in this workspace.")).toBeTruthy();
  }
});

test("Looks for new rows every two seconds with live updates, never while hidden, and at once when visible", async () => {
  vi.useFakeTimers();
  onTestFinished(() => {
    vi.useRealTimers();
    Reflect.deleteProperty(document, "hidden");
  });
  const calls = answerApi({
    [`GET ${path}/activity`]: () => ({ activity: [{ ...row("New"), part: 1 }] }),
  });
  let refreshed = 0;
  show(
    <ActivityList
      workspace="acme"
      source={`${path}/activity?period=month`}
      first={{ items: [row("First")], nextCursor: null, removedBefore: null }}
      isLatestFirst
      mayChange={false}
      remembered={["time", "project"]}
      summary={undefined}
      empty={null}
    />,
    {
      router: {
        refresh: () => {
          refreshed += 1;
        },
      },
    },
  );
  const wait = (ms: number) => act(() => vi.advanceTimersByTimeAsync(ms));
  const setHidden = async (hidden: boolean) => {
    Object.defineProperty(document, "hidden", { value: hidden, configurable: true });
    document.dispatchEvent(new Event("visibilitychange"));
    await wait(0);
  };
  await wait(14_000);
  expect(calls, "without live updates, every fifteen seconds").toHaveLength(0);
  fireEvent.click(screen.getByRole("switch", { name: "Show new rows at once" }));
  await wait(4_100);
  expect(calls).toHaveLength(3);
  expect(refreshed).toBeGreaterThan(0);
  expect(document.body.textContent).toContain("1 new row: New");
  await setHidden(true);
  await wait(60_000);
  expect(calls).toHaveLength(3);
  await setHidden(false);
  expect(calls).toHaveLength(4);
});

test("Marks the column that rows are sorted by, and turns its order round with its link", () => {
  show(<ActivityTable workspace="acme" shown={["time", "quantity"]} items={[row("First")]} />, {
    address: "/acme/activity?model=m&sort=-amount",
  });
  const head = (name: string) => screen.getByRole("columnheader", { name });
  expect(head("Amount").getAttribute("aria-sort")).toBe("descending");
  expect(head("Quantity").getAttribute("aria-sort")).toBe("none");
  const href = (name: string) => within(head(name)).getByRole("link").getAttribute("href");
  expect(href("Amount")).toBe("/acme/activity?model=m&sort=amount");
  expect(href("Quantity")).toBe("/acme/activity?model=m&sort=-quantity");
  expect(screen.queryByRole("columnheader", { name: "Project" })).toBeNull();
});
