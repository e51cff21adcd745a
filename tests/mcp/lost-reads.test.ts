import { expect, test } from "vitest";
import { ServiceError } from "@/lib/errors";
import type { Backend } from "@/lib/mcp/backend";
import { answerProtocol } from "@/lib/mcp/protocol";
import { restBackend } from "@/lib/mcp/rest-backend";
import { Retries } from "@/lib/mcp/retries";
import { withSharedHarness } from "../helpers/shared-harness";
import { toolCall } from "../helpers/tool-call";

const harness = withSharedHarness();

const usage = {
  project: "checkout",
  provider: "acme",
  unit_type: "requests",
  quantity: 1,
  estimated_cost: 0.01,
};

test.each(["2026", "2025"] as const)(
  "Does not remember cancelled reads, so that the retry of a cancelled recording still records once (%s)",
  async (era) => {
    const { id, secret } = await harness.fixtures.key(await harness.fixtures.workspace());
    const service = restBackend({ baseUrl: harness.services[0]?.baseUrl ?? "", apiKey: secret });
    /** Holds calls of the backend until their clients have disconnected. */
    let open: () => void = () => {};
    let opened = new Promise<void>((resolve) => {
      open = resolve;
    });
    const backend: Backend = {
      record: (recording) => opened.then(() => service.record(recording)),
      querySpend: (query) => opened.then(() => service.querySpend(query)),
      readBudgetStatus: () => opened.then(() => service.readBudgetStatus()),
      checkBudget: (asked) => opened.then(() => service.checkBudget(asked)),
      requestBudget: (request) => opened.then(() => service.requestBudget(request)),
      readMonthSummary: () => opened.then(() => service.readMonthSummary()),
      readClosedMonths: () => opened.then(() => service.readClosedMonths()),
      readReconciliation: (month) => opened.then(() => service.readReconciliation(month)),
      listRecommendations: () => opened.then(() => service.listRecommendations()),
      alerts: null,
      readProjectSpend: (slug, range) => opened.then(() => service.readProjectSpend(slug, range)),
    };
    // Two entries at most: a remembered read would displace the recording.
    const retries = new Retries(2);
    const call = (name: string, args: object, requestId: number, signal?: AbortSignal) => {
      const { body, headers } = toolCall(era, name, { ...args }, { id: requestId });
      const request = new Request("http://localhost/api/mcp", {
        method: "POST",
        headers: { ...headers, "content-type": "application/json" },
        body: JSON.stringify(body),
        ...(signal && { signal }),
      });
      const report = (error: unknown) => expect.unreachable(String(error));
      const session = { where: "remote" as const, backend, retries, caller: id, session: undefined, report };
      return answerProtocol(request, body, session);
    };
    const giveUp = async (name: string, args: object, requestId: number) => {
      const client = new AbortController();
      const answer = call(name, args, requestId, client.signal).catch(() => {});
      // The call reaches the backend within a few turns of the event loop.
      for (let turn = 0; turn < 5; turn += 1) await new Promise(setImmediate);
      client.abort();
      return answer;
    };
    await giveUp("log_usage", usage, 1);
    await giveUp("get_budget_status", {}, 2);
    await giveUp("get_monthly_summary", {}, 3);
    await giveUp("get_project_spend", { project: "checkout" }, 4);
    open();
    opened = Promise.resolve();
    const recorded = async () => {
      const { rows } = await harness.fixtures.sql.query(
        "select count(*)::int as messages from public.messages where api_key_id = $1",
        [id],
      );
      return rows[0].messages;
    };
    await expect.poll(recorded).toBe(1);
    const retried = await call("log_usage", usage, 5);
    expect(await retried.text()).toContain("was not recorded again");
    expect(await recorded()).toBe(1);
    // The key was taken by the retry; the next equal call is a new use.
    await (await call("log_usage", usage, 6)).text();
    expect(await recorded()).toBe(2);
  },
);

test("Recognises the retry of a lost call after a retry that was refused", async () => {
  const { id, secret } = await harness.fixtures.key(await harness.fixtures.workspace());
  const service = restBackend({ baseUrl: harness.services[0]?.baseUrl ?? "", apiKey: secret });
  const refusal = new ServiceError("rate_limited", "Try again later.");
  /** Holds the first call until its client has disconnected. */
  let open: () => void = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  let recording: Promise<unknown> | undefined;
  let isRefusing = false;
  const backend: Backend = {
    ...service,
    record: async (message) => {
      if (isRefusing) throw refusal;
      const recorded = opened.then(() => service.record(message));
      recording = recorded;
      return recorded;
    },
  };
  const retries = new Retries();
  const call = (requestId: number, signal?: AbortSignal) => {
    const { body, headers } = toolCall("2026", "log_usage", usage, { id: requestId });
    const request = new Request("http://localhost/api/mcp", {
      method: "POST",
      headers: { ...headers, "content-type": "application/json" },
      body: JSON.stringify(body),
      ...(signal && { signal }),
    });
    const report = (error: unknown) => expect.unreachable(String(error));
    const session = { where: "remote" as const, backend, retries, caller: id, session: undefined, report };
    return answerProtocol(request, body, session);
  };
  const client = new AbortController();
  const lost = call(1, client.signal).catch(() => {});
  await expect.poll(() => recording !== undefined).toBe(true);
  client.abort();
  await lost;
  open();
  await recording;
  isRefusing = true;
  expect(await (await call(2)).text()).toContain("rate_limited");
  isRefusing = false;
  expect(await (await call(3)).text()).toContain("was not recorded again");
  expect(await (await call(4)).text()).not.toContain("was not recorded again");
});
