import { screen, waitFor, within } from "@testing-library/react";
import { expect, test } from "vitest";
import { ActivityList } from "@/components/activity/activity-list";
import type { ActivityItem } from "@/components/activity/row";
import { type BulkAction, bulkActionRequest } from "@/lib/contract/spend/bulk-actions";
import { validationFailed } from "@/lib/errors";
import { answerApi, readBody } from "./api";
import { show } from "./render";

const path = "/api/v1/workspaces/acme";
const idOf = (place: number) => `0193a1b4-52c7-7d3a-8f10-4be2c6d90a${place.toString(16).padStart(2, "0")}`;

/** A row of a message in a workspace, the n-th. */
const row = (place: number, more: Partial<ActivityItem> = {}): ActivityItem => ({
  id: idOf(place),
  part: 0,
  at: "2026-11-20T10:00:00Z",
  label: `Cost ${place}`,
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
  lineCount: null,
  ...more,
});

const rows = [row(1), row(2), row(3, { undone: "void" }), row(4), row(5), row(5, { part: 1 })];

function showList(mayChange = true) {
  const refreshed: string[] = [];
  const user = show(
    <ActivityList
      workspace="acme"
      source={`${path}/activity?period=month&environment=live&tag=&sort=-amount&currency=EUR`}
      first={{ items: rows, nextCursor: "more", removedBefore: null }}
      isLatestFirst
      mayChange={mayChange}
      remembered={["time", "project"]}
      summary={undefined}
      empty={null}
    />,
    { router: { refresh: () => refreshed.push("refresh") } },
  );
  return { user, refreshed };
}

const box = (place: number) =>
  screen.getAllByRole("checkbox", { name: `Select Cost ${place}` })[0] as HTMLElement;
const bar = () => screen.getByRole("region", { name: "Selected rows" }).textContent ?? "";

/** Answers previews with these messages, and what changes them. */
function answerActions(messages: string[]) {
  const answer = (more: Partial<BulkAction>) => ({
    id: null,
    action: "void",
    message_count: messages.length,
    unchanged_count: 0,
    before_usd: 2,
    after_usd: 0,
    messages: null,
    effects: null,
    undo_until: null,
    undone_at: null,
    ...more,
  });
  return answerApi({
    [`POST ${path}/messages/bulk-actions`]: ({ body }) => {
      const { dry_run: isDry, set } = readBody(bulkActionRequest, body);
      if (set?.add_tags?.bad) throw validationFailed([{ path: "set.add_tags.bad", message: "is not good" }]);
      return answer(
        isDry ? { messages, effects: { projects: [], budgets: [], alerts: [] } } : { id: idOf(99) },
      );
    },
    [`POST ${path}/messages/bulk-actions/${idOf(99)}/restore`]: () => answer({ id: idOf(99) }),
  });
}

test("Selects rows by their checkboxes, with Shift those in between, and never voids or what is voided", async () => {
  const { user } = showList();
  await user.click(box(1));
  expect(bar()).toContain("1 row selected · $1.00");
  await user.keyboard("{Shift>}");
  await user.click(box(4));
  await user.keyboard("{/Shift}");
  expect(bar()).toContain("3 rows selected · $3.00");
  expect(screen.queryByRole("checkbox", { name: "Select Cost 3" })).toBeNull();
  await user.click(box(2));
  expect(bar()).toContain("2 rows selected");
  const all = screen.getByRole<HTMLInputElement>("checkbox", { name: "Select the rows shown" });
  expect(all.indeterminate).toBe(true);
  await user.click(all);
  // Two rows of one message are one.
  expect(bar()).toContain("4 rows selected");
  await user.click(all);
  expect(screen.queryByRole("region", { name: "Selected rows" })).toBeNull();
});

test("Selects rows by the keyboard: X one, Shift with an arrow key those it passes, Escape none", async () => {
  const { user } = showList();
  const link = (place: number) => screen.getAllByRole("link", { name: `Cost ${place}` })[0];
  link(1)?.focus();
  await user.keyboard("x{ArrowDown}");
  expect(bar()).toContain("1 row selected");
  await user.keyboard("{Shift>}{ArrowDown}{ArrowDown}{/Shift}");
  expect(document.activeElement).toBe(link(4));
  expect(bar()).toContain("3 rows selected");
  await user.keyboard("{Escape}");
  expect(screen.queryByRole("region", { name: "Selected rows" })).toBeNull();
});

test("Shows viewers no checkboxes", () => {
  showList(false);
  expect(screen.queryByRole("checkbox", { name: /^Select/ })).toBeNull();
});

test("Previews everything that matches by the list's filters, and changes what the preview named", async () => {
  const calls = answerActions([idOf(1), idOf(70)]);
  const { user, refreshed } = showList();
  await user.click(box(1));
  await user.click(screen.getByRole("button", { name: /^Select all that match, up to 1,000/ }));
  await user.click(screen.getByRole("button", { name: "Void…" }));
  const dialog = within(await screen.findByRole("dialog", { name: "Void these costs" }));
  await user.click(await dialog.findByRole("button", { name: "Void 2 costs" }));
  expect(dialog.getByText("Is required.")).toBeTruthy();
  await user.type(dialog.getByLabelText("Reason"), "Twice");
  await user.click(dialog.getByRole("button", { name: "Void 2 costs" }));
  await waitFor(() => expect(refreshed).toHaveLength(1));
  expect(calls.map(({ body }) => body)).toEqual([
    { action: "void", filters: { period: "month", environment: "live", tag: "" }, dry_run: true },
    {
      action: "void",
      messages: [idOf(1), idOf(70)],
      reason: "Twice",
      idempotency_key: expect.any(String),
    },
  ]);
  expect(screen.queryByRole("region", { name: "Selected rows" })).toBeNull();
  // The bar with the used button is gone.
  expect(document.activeElement).toBe(screen.getByRole("link", { name: "Cost 1" }));
});

test("Sends tags and a feature as typed, and shows what is wrong at its field", async () => {
  const calls = answerActions([idOf(1)]);
  const { user } = showList();
  await user.click(box(1));
  await user.click(screen.getByRole("button", { name: "Tags…" }));
  const dialog = within(await screen.findByRole("dialog", { name: "Change tags and feature" }));
  expect(dialog.getByRole<HTMLButtonElement>("button", { name: "Change" }).disabled).toBe(true);
  await user.type(dialog.getByLabelText("Add tags"), "bad: x, team:growth");
  await waitFor(() => expect(dialog.getByText("Is not good.")).toBeTruthy());
  await user.clear(dialog.getByLabelText("Add tags"));
  await user.type(dialog.getByLabelText("Remove tags"), "a, b");
  await user.type(dialog.getByLabelText("Feature"), "chat");
  await dialog.findByRole("button", { name: "Change 1 cost" });
  expect(calls.at(-1)?.body).toEqual({
    action: "correct",
    messages: [idOf(1)],
    set: { remove_tags: ["a", "b"], feature: "chat" },
    dry_run: true,
  });
});
