import { Webhook } from "standardwebhooks";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import {
  crossing,
  deliveriesOf,
  openReceiver,
  passTheWait,
  type Receiver,
  raise,
  status,
} from "@/tests/helpers/alerts";
import { type Answer, apiClient } from "@/tests/helpers/client";
import { withHarness } from "@/tests/helpers/harness";
import { makeTeam, type Team } from "@/tests/helpers/team";

const harness = withHarness({
  settings: { ALERT_ALLOWED_HOSTS: "127.0.0.1,hooks.internal", LOG_LEVEL: "debug" },
});

let team: Team;
let receiver: Receiver;
const said: string[] = [];

beforeAll(async () => {
  [team, receiver] = await Promise.all([makeTeam(harness), openReceiver()]);
  harness.services[0]?.process.stdout?.on("data", (chunk) => said.push(String(chunk)));
});
afterAll(() => receiver.close());

const channels = () => `${team.path}/alert-channels`;
const call = (method: string, path: string, body?: unknown, who: keyof Team["users"] = "admin") =>
  team.users[who].call(method, path, body);
const create = (body: Record<string, unknown>, who: keyof Team["users"] = "admin") =>
  call("POST", channels(), { name: "Ours", ...body }, who);
const codeOf = ({ status: code, body }: Answer) => `${code} ${body.error ?? "ok"}`;
const issueOf = ({ body }: Answer) => (body.issues as { path: string; message: string }[])[0];
const webhook = async (path = "hook") => {
  const { body } = await create({ kind: "webhook", url: `http://127.0.0.1:${receiver.port}/${path}` });
  return body as { id: string; signing_secret: string };
};

describe("A channel", () => {
  test("Refuses fields of another kind in an edit", async () => {
    const { id } = await webhook();
    for (const changes of [
      { addresses: ["a@example.com"] },
      { routing_key: "a".repeat(32) },
      { region: "eu" },
    ]) {
      expect(codeOf(await call("PATCH", `${channels()}/${id}`, changes))).toBe("400 validation_failed");
    }
  });
});

describe("A test", () => {
  test("Is delivered at once, signed, and in the channel's log", async () => {
    const { id, signing_secret: secret } = await webhook("tested");
    const answer = await call("POST", `${channels()}/${id}/test`);
    expect([answer.status, answer.body]).toMatchObject([
      200,
      { state: "delivered", is_test: true, last_status: 204 },
    ]);
    const sent = receiver.received.find(({ id: own }) => own === answer.body.id);
    expect(new Webhook(secret).verify(sent?.body ?? "", sent?.headers ?? {})).toMatchObject({
      type: "alert.test",
    });
    const { body } = await call("GET", `${channels()}/${id}/deliveries`, undefined, "viewer");
    expect(body.deliveries).toEqual([answer.body]);
  });

  test("Says what went wrong, without the receiver's words, and is not tried again", async () => {
    const { id } = await webhook("failing");
    const answers = receiver.answer;
    receiver.answer = status(500);
    const { body } = await call("POST", `${channels()}/${id}/test`);
    receiver.answer = answers;
    expect(body).toMatchObject({ state: "dead", last_status: 500, last_error: "The receiver answered 500." });
    expect((await call("GET", `${channels()}/${id}`)).body.failing_since).toBeNull();
    expect(codeOf(await call("POST", `${team.path}/alert-deliveries/${body.id}/resend`))).toBe(
      "409 conflict",
    );
  });

  test("Does not reach a name that resolves to this machine and is not allowed", async () => {
    const { body: made } = await create({ kind: "webhook", url: "https://localhost/hook" });
    const { baseUrl, stop } = await harness.start({ ALERT_ALLOWED_HOSTS: "" });
    const strict = apiClient(baseUrl, team.users.admin.token);
    const { body } = await strict.call("POST", `${channels()}/${made.id}/test`);
    await stop();
    expect(body).toMatchObject({ state: "dead", last_error: expect.stringContaining("not public") });
  });

  test("Is limited for a workspace", async () => {
    const own = await makeTeam(harness);
    const { body } = await own.users.owner.call("POST", `${own.path}/alert-channels`, {
      kind: "email",
      name: "Mail",
      addresses: [own.users.owner.email],
    });
    const statuses = [];
    for (let count = 0; count < 31; count += 1) {
      const answer = await own.users.owner.call("POST", `${own.path}/alert-channels/${body.id}/test`);
      statuses.push(answer.status);
    }
    expect(statuses.filter((code) => code === 200)).toHaveLength(30);
    expect(statuses.at(-1)).toBe(429);
  });
});

describe("A secret", () => {
  test("Is rotated with a day in which both sign", async () => {
    const { id, signing_secret: old } = await webhook("rotated");
    const { body } = await call("POST", `${channels()}/${id}/rotate`);
    const hours = (Date.parse(String(body.old_secret_until)) - Date.now()) / 3_600_000;
    expect(Math.round(hours)).toBe(24);
    const { body: tested } = await call("POST", `${channels()}/${id}/test`);
    const sent = receiver.received.find((each) => each.id === tested.id);
    for (const secret of [old, String(body.signing_secret)]) {
      expect(new Webhook(secret).verify(sent?.body ?? "", sent?.headers ?? {})).toBeTruthy();
    }
  });

  test("Is that of webhooks only", async () => {
    const { body } = await create({ kind: "slack", url: "https://hooks.slack.com/services/x" });
    expect(codeOf(await call("POST", `${channels()}/${body.id}/rotate`))).toBe("409 conflict");
  });
});

describe("An alert", () => {
  test("Is sent within two seconds of its commit, and listed with whom it was sent to", async () => {
    const { id } = await webhook("fired");
    const raised = crossing(team.workspace, {
      level: "100",
      subject_id: crypto.randomUUID(),
      details: { spent_usd: "100.000000000000000001" },
    });
    const beganMs = performance.now();
    await raise(harness.fixtures, raised);
    await vi.waitUntil(() => receiver.received.some(({ path }) => path === "/fired"), {
      interval: 20,
      timeout: 10_000,
    });
    expect(performance.now() - beganMs).toBeLessThan(2_000);
    await vi.waitUntil(
      async () => (await deliveriesOf(harness.fixtures, id))[0]?.state === "delivered",
      30_000,
    );
    const { body } = await call("GET", `${team.path}/alerts?limit=1`, undefined, "viewer");
    expect(body.alerts).toMatchObject([
      {
        rule: "budget_threshold",
        state: "alert",
        figures: { percent: 100, amount_usd: 100 },
        subject: { type: "budget", id: raised.subject_id, name: "Everything" },
        period: { from: "2026-11-01", until: "2026-12-01" },
      },
    ]);
    const [{ deliveries }] = body.alerts as [{ deliveries: { channel: { id: string } }[] }];
    expect(deliveries.find(({ channel }) => channel.id === id)).toMatchObject({
      state: "delivered",
      attempts: 1,
    });
  });

  test("Is listed page by page, the newest first, each once", async () => {
    const own = await makeTeam(harness);
    const levels = Array.from({ length: 7 }, (_, index) => String(50 + index));
    await raise(
      harness.fixtures,
      ...levels.map((level) => crossing(own.workspace, { level, is_quiet: level === "50" })),
    );
    const seen: { level: string; is_quiet: boolean }[] = [];
    let cursor: unknown = "";
    while (cursor !== null) {
      const { body } = await own.users.viewer.get(
        `${own.path}/alerts?limit=3${cursor ? `&cursor=${cursor}` : ""}`,
      );
      seen.push(...(body.alerts as typeof seen));
      cursor = body.next_cursor;
    }
    expect(seen.map(({ level }) => level)).toEqual(levels.reverse());
    expect(seen.at(-1)?.is_quiet).toBe(true);
    const wrong = await own.users.viewer.get(`${own.path}/alerts?cursor=x`);
    expect([codeOf(wrong), issueOf(wrong)?.path]).toEqual(["400 validation_failed", "query.cursor"]);
  });

  test("That was given up is sent again when an admin asks, under the same id", async () => {
    const { id } = await webhook("again");
    const answers = receiver.answer;
    receiver.answer = status(500);
    await raise(harness.fixtures, crossing(team.workspace, { subject_id: crypto.randomUUID() }));
    await harness.fixtures.sql.query(
      "update public.deliveries set give_up_at = now() where channel_id = $1",
      [id],
    );
    const state = async () => (await deliveriesOf(harness.fixtures, id))[0].state;
    await vi.waitUntil(
      async () => {
        await passTheWait(harness.fixtures, id);
        return (await state()) === "dead";
      },
      { timeout: 10_000 },
    );
    receiver.answer = answers;
    const [dead] = await deliveriesOf(harness.fixtures, id);
    expect(
      codeOf(await call("POST", `${team.path}/alert-deliveries/${dead.id}/resend`, undefined, "member")),
    ).toBe("403 permission_denied");
    expect((await call("POST", `${team.path}/alert-deliveries/${dead.id}/resend`)).body.state).toMatch(
      /pending|delivered/,
    );
    await vi.waitUntil(async () => (await state()) === "delivered", { timeout: 10_000 });
    expect(
      new Set(receiver.received.filter(({ path }) => path === "/again").map((each) => each.id)).size,
    ).toBe(1);
    expect(codeOf(await call("POST", `${team.path}/alert-deliveries/${dead.id}/resend`))).toBe(
      "409 conflict",
    );
  });

  test("Waits while its channel was turned off by the service, and is dropped where a person turned it off", async () => {
    const [held, dropped] = [await webhook("held"), await webhook("dropped")];
    await harness.fixtures.sql.query(
      "update public.alert_channels set disabled_at = now(), disabled_reason = 'failing' where id = any ($1)",
      [[held.id, dropped.id]],
    );
    await raise(harness.fixtures, crossing(team.workspace, { subject_id: crypto.randomUUID() }));
    const edit = (id: string, enabled: boolean) => call("PATCH", `${channels()}/${id}`, { enabled });
    expect((await edit(dropped.id, false)).body).toMatchObject({
      enabled: false,
      disabled_reason: "by_admin",
    });
    expect((await edit(held.id, true)).body).toMatchObject({ enabled: true, disabled_reason: null });
    await edit(dropped.id, true);
    await vi.waitUntil(async () => (await deliveriesOf(harness.fixtures, held.id))[0].state === "delivered", {
      timeout: 10_000,
    });
    expect(await deliveriesOf(harness.fixtures, dropped.id)).toMatchObject([{ state: "cancelled" }]);
  });
});

test("Leaves no secret in the service's log", async () => {
  const { signing_secret: secret } = await webhook("SECRETPATH");
  const { body } = await create({ kind: "webhook", url: "http://127.0.0.1:1/SECRETPATH" });
  await call("POST", `${channels()}/${body.id}/test`);
  await vi.waitUntil(() => said.join("").includes("An alert was not delivered."), 30_000);
  expect(said.join("")).not.toContain("SECRETPATH");
  expect(said.join("")).not.toContain(secret);
  expect(said.join("")).not.toContain("whsec_");
});
