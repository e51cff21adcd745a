import { beforeAll, expect, test } from "vitest";
import { crossing, raise } from "@/tests/helpers/alerts";
import type { Answer } from "@/tests/helpers/client";
import { withSharedHarness } from "@/tests/helpers/shared-harness";
import { addUser, makeTeam, type Team } from "@/tests/helpers/team";

const harness = withSharedHarness();

let team: Team;
beforeAll(async () => {
  team = await makeTeam(harness);
});

const fire = (...levels: string[]) =>
  raise(harness.fixtures, ...levels.map((level) => crossing(team.workspace, { level })));
const itemsOf = (body: Answer["body"]) =>
  (body.newest ?? []) as { id: string; title: string; is_unread: boolean }[];
const news = async (who: keyof Team["users"]) => {
  const { status, body } = await team.users[who].call("GET", `${team.path}/alerts/news`);
  return { status, unread: body.unread, newest: itemsOf(body) };
};
const see = (who: keyof Team["users"], alertId: string | undefined) =>
  team.users[who].call("POST", `${team.path}/alerts/seen`, { alert_id: alertId });

test("Counts for each member what fired since they looked, also what fires while they look", async () => {
  expect(await news("viewer")).toEqual({ status: 200, unread: 0, newest: [] });
  await fire("50", "80");
  const before = await news("viewer");
  expect(before.unread).toBe(2);
  expect(before.newest.map(({ title }) => title)).toEqual([
    "80% of the budget Everything is spent",
    "50% of the budget Everything is spent",
  ]);
  expect(before.newest[0]).toMatchObject({
    severity: "warning",
    is_unread: true,
    text: "$80.01 of $100.00 is spent in the period from Nov 1, 2026 to Nov 30, 2026.",
    path: `/${team.slug}/budgets#budget-0193a0f7-1e44-7c02-a6d3-90b1f8e2d417`,
  });
  await fire("100");
  const { body } = await see("viewer", before.newest[0]?.id);
  expect([body.unread, itemsOf(body).map(({ is_unread: isUnread }) => isUnread)]).toEqual([
    1,
    [true, false, false],
  ]);
  // Another tab that loaded the list earlier does not make anything unread again.
  expect((await see("viewer", before.newest[1]?.id)).body.unread).toBe(1);
  expect((await news("owner")).unread).toBe(3);
});

test("Counts neither quiet alerts nor what fired before somebody joined", async () => {
  await raise(harness.fixtures, crossing(team.workspace, { level: "110", is_quiet: true }));
  const { unread, newest } = await news("admin");
  expect([unread, newest.length]).toEqual([3, 3]);
  const late = await addUser(harness, team.workspace, "viewer");
  const { body } = await late.call("GET", `${team.path}/alerts/news`);
  expect([body.unread, itemsOf(body).length]).toEqual([0, 3]);
});

test("Marks nothing by an alert of another workspace, and nothing for strangers", async () => {
  const other = await makeTeam(harness);
  await raise(harness.fixtures, crossing(other.workspace));
  const { body } = await other.users.owner.call("GET", `${other.path}/alerts/news`);
  expect((await see("owner", itemsOf(body)[0]?.id)).status).toBe(404);
  expect((await news("owner")).unread).toBe(3);
  expect((await news("stranger")).status).toBe(404);
  expect((await see("stranger", (await news("owner")).newest[0]?.id)).status).toBe(404);
});

test("A page of alerts has as many as asked for, 25 without a limit and 100 at most, and goes on where the last ended", async () => {
  const other = await makeTeam(harness);
  const levels = Array.from({ length: 103 }, (_, index) => String(index + 1));
  await raise(harness.fixtures, ...levels.map((level) => crossing(other.workspace, { level })));
  const read = (query: string) => other.users.viewer.get(`${other.path}/alerts${query}`);
  const levelsOf = ({ body }: Answer) => (body.alerts as { level: string }[]).map(({ level }) => level);
  const newest = [...levels].reverse();
  expect(levelsOf(await read(""))).toEqual(newest.slice(0, 25));
  const first = await read("?limit=100");
  expect(levelsOf(first)).toEqual(newest.slice(0, 100));
  const last = await read(`?limit=100&cursor=${first.body.next_cursor}`);
  expect([levelsOf(last), last.body.next_cursor]).toEqual([newest.slice(100), null]);
  expect((await read("?limit=101")).status).toBe(400);
});
