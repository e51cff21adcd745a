import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { crossing, deliveriesOf, openReceiver, type Receiver, raise } from "@/tests/helpers/alerts";
import { connectService } from "@/tests/helpers/connect-service";
import { withHarness } from "@/tests/helpers/harness";
import { latestMail } from "@/tests/helpers/outbox";
import { makeTeam, type Team } from "@/tests/helpers/team";

// Two services work the same queue.
const harness = withHarness({ services: 2, settings: { ALERT_ALLOWED_HOSTS: "127.0.0.1" } });
connectService(() => harness.database);

let team: Team;
let receiver: Receiver;
beforeAll(async () => {
  [team, receiver] = await Promise.all([makeTeam(harness), openReceiver()]);
});
afterAll(() => receiver.close());

const call = (who: keyof Team["users"], method: string, path: string, body?: unknown) =>
  team.users[who].call(method, `${team.path}/alert-channels${path}`, body);
const weekly = { every: "week", weekday: "thursday", at: "08:30", time_zone: "Asia/Kolkata" };
const create = (body: object, who: keyof Team["users"] = "admin") =>
  call(who, "POST", "", { kind: "webhook", name: "Ours", url: receiver.url, ...body });

test("Has a digest as it was asked for, at the local time, shown to all members, changed by admins, audited", async () => {
  const { status, body } = await create({ digest: weekly });
  expect([status, body.digest]).toMatchObject([201, weekly]);
  const at = new Date((body.digest as { next_at: string }).next_at);
  expect([at.getUTCDay(), at.toISOString().slice(11, 16)]).toEqual([4, "03:00"]);
  const id = String(body.id);
  expect((await call("viewer", "GET", `/${id}`)).body.digest).toMatchObject(weekly);
  const refused = await call("viewer", "PATCH", `/${id}`, { digest: null });
  expect([refused.status, (await call("stranger", "PATCH", `/${id}`, { digest: null })).status]).toEqual([
    403, 404,
  ]);
  const daily = await call("admin", "PATCH", `/${id}`, { digest: { every: "day", at: "23:59" } });
  expect(daily.body.digest).toMatchObject({ every: "day", weekday: null, at: "23:59", time_zone: "UTC" });
  // What is left out stays.
  expect((await call("admin", "PATCH", `/${id}`, { name: "New" })).body.digest).toEqual(daily.body.digest);
  expect((await call("admin", "PATCH", `/${id}`, { digest: null })).body.digest).toBeNull();
  const { body: log } = await team.users.admin.call("GET", `${team.path}/audit?limit=20`);
  expect(JSON.stringify(log)).toContain('"cadence"');
  await call("admin", "DELETE", `/${id}`);
});

test.each([
  [{ every: "month", at: "09:00" }, "digest.every"],
  [{ every: "day", at: "24:00" }, "digest.at"],
  [{ every: "day", at: "9:00" }, "digest.at"],
  [{ every: "day", at: "09:00", time_zone: "Mars/Olympus" }, "digest.time_zone"],
  // A name that the browser's list may have and Postgres has not.
  [{ every: "day", at: "09:00", time_zone: "+02:00" }, "digest.time_zone"],
  [{ every: "week", at: "09:00", weekday: 8 }, "digest.weekday"],
  [{ every: "day", at: "09:00", weekday: "monday" }, "digest.weekday"],
])("Refuses the digest %j, naming the field, and adds nothing", async (digest, path) => {
  const before = (await call("admin", "GET", "")).body.channels;
  const { status, body } = await create({ digest });
  expect([status, (body.issues as { path: string }[])[0]?.path]).toEqual([400, path]);
  expect((await call("admin", "GET", "")).body.channels).toEqual(before);
});

test("Is sent once by two services, also by mail, and its alerts have its outcome", async () => {
  const hook = String((await create({ digest: weekly })).body.id);
  const mail = String(
    (
      await call("admin", "POST", "", {
        kind: "email",
        name: "Mail",
        addresses: [team.users.owner.email],
        digest: { every: "day", at: "07:00", time_zone: "Pacific/Auckland" },
      })
    ).body.id,
  );
  await raise(
    harness.fixtures,
    crossing(team.workspace, { level: "50", details: { budget: "<i>A&B" } }),
    crossing(team.workspace, { level: "100" }),
  );
  const { body: log } = await call("viewer", "GET", `/${hook}/deliveries`);
  expect((log.deliveries as { state: string }[]).map(({ state }) => state)).toEqual([
    "collected",
    "collected",
  ]);
  await harness.fixtures.sql.query(
    "update public.alert_channels set next_digest_at = now() where workspace_id = $1",
    [team.workspace],
  );
  for (const id of [hook, mail]) {
    await vi.waitUntil(
      async () => (await deliveriesOf(harness.fixtures, id)).some(({ state }) => state === "delivered"),
      { timeout: 20_000 },
    );
  }
  expect(
    receiver.received.map(({ body }) => JSON.parse(body)).map(({ type, data }) => [type, data.count]),
  ).toEqual([["alert.digest", 2]]);
  expect(await latestMail(team.users.owner.email)).toMatchObject({
    subject: expect.stringMatching(/^2 alerts of /),
    body: expect.stringMatching(/Times in: Pacific\/Auckland.*- The budget Everything is used up: Alert/s),
  });
  const shown = (await call("viewer", "GET", `/${hook}/deliveries`)).body.deliveries as Record<
    string,
    unknown
  >[];
  expect(shown.map(({ state, digest, alert }) => [state, digest, alert !== null])).toEqual([
    ["delivered", { count: 2 }, false],
    ["delivered", null, true],
    ["delivered", null, true],
  ]);
  const { body: fired } = await team.users.viewer.call("GET", `${team.path}/alerts`);
  const [newest] = fired.alerts as { deliveries: { state: string }[] }[];
  expect(newest?.deliveries.map(({ state }) => state)).toEqual(["delivered", "delivered"]);
});
