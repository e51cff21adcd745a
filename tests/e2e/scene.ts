import { addChannel, crossing, judgeKeyRules, raiseLasting } from "@/tests/helpers/alerts";
import { costMessage } from "@/tests/helpers/client";
import { closed, earlier } from "@/tests/helpers/closable-months";
import { authorizeUrl, connect, makePkce, openBrowser, registerClient } from "@/tests/helpers/oauth";
import { workspaceId } from "./accounts";
import { expect, type World } from "./fixtures";
import { clientOf, recordSpend } from "./spend";

/** A workspace with some of everything that its pages can show. */
export type Scene = {
  slug: string;
  /** The path of an invitation to it. */
  invitation: string;
  /** The path of an authorization request. */
  question: string;
  /** The id of a source. */
  source: string;
};

/** Makes the workspace, whose owner is not the user of the page. */
export async function setScene(world: World): Promise<Scene> {
  const { baseUrl } = world.service;
  const host = await openBrowser(baseUrl);
  const call = async (method: string, path: string, body: unknown) => {
    const answer = await fetch(`${baseUrl}/api/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${host.token}`, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    expect([200, 201], await answer.clone().text()).toContain(answer.status);
    return answer.json();
  };
  const { slug } = await call("POST", "/workspaces", { name: `Scene ${host.id.slice(0, 8)}` });
  const make = (path: string, body: unknown) => call("POST", `/workspaces/${slug}${path}`, body);
  await connect(host, { workspace: slug });
  await recordSpend(world, slug);
  await recordOthers(world, slug);
  await closeMonth(world, slug, make);
  await addBills(make);
  // So large that the job raises no alert of it, however far the month is.
  const everything = await make("/budgets", { name: "Everything", scope_type: "global", amount: 1_000_000 });
  const account = await make("/provider-accounts", { provider: "openrouter", key: "sk-or-of-the-scene" });
  const target = { account_id: account.id, kind: "key", target_id: "hash", target_name: "ci" };
  await make("/provider-limits", { budget_id: everything.id, ...target });
  const sending = await make("/provider-accounts", {
    provider: "anthropic",
    key: "sk-ant-admin01-of-the-scene",
  });
  await setTelemetry(world, slug, { refused: account.id, registered: sending.id });
  await make("/views", { name: "Models", query: "by=model", is_shared: true });
  await make("/invitations", { role: "viewer", email: "bo@example.com" });
  const { link } = await make("/invitations", { role: "viewer" });
  const { id: source } = await make("/api-keys", {
    name: "Claude Code",
    permissions: ["log_usage"],
    source: { program: "claude-code" },
  });
  const question = authorizeUrl(baseUrl, await registerClient(baseUrl), makePkce().challenge);
  return {
    slug,
    invitation: new URL(String(link)).pathname,
    question: question.slice(baseUrl.length),
    source: String(source),
  };
}

/** Has an account's provider send its calls, and that of another refuse to. As if the providers could reach the service. */
async function setTelemetry(
  world: World,
  slug: string,
  accounts: { refused: string; registered: string },
): Promise<void> {
  const { sql } = world.fixtures;
  const id = await workspaceId(world, slug);
  for (const [state, account] of Object.entries(accounts)) {
    const { id: key } = await world.fixtures.key(id);
    await sql.query(
      `insert into public.provider_telemetry (workspace_id, account_id, provider, account, key_id, state, problem)
       select workspace_id, id, provider, account, $3, $4, case when $4 = 'refused' then 'It answers 403: no.' end
       from public.provider_accounts where workspace_id = $1 and id = $2`,
      [id, account, key, state],
    );
  }
}

/** Adds a bill, and a later one that says something else of one of its days. */
async function addBills(make: (path: string, body: unknown) => Promise<unknown>): Promise<void> {
  const header = "day,model,unit,quantity,amount,user";
  const rows = ["2026-10-01,gpt-5,input_tokens,1000,4,ada@example.com", "2026-10-02,gpt-5,,,6,"];
  const openai = { constants: { provider: "openai" } };
  await make("/bills", { name: "october.csv", content: [header, ...rows].join("\n"), ...openai });
  await make("/provider-accounts", { provider: "openai", key: "sk-admin-of-the-scene" });
  await make("/bills", { name: "corrected.csv", content: `${header}\n2026-10-02,,,,5,`, ...openai });
}

/** Records what `recordSpend` does not: a batch, a person, a void, a subscription, more projects, and alerts. */
async function recordOthers(world: World, slug: string): Promise<void> {
  const { sql } = world.fixtures;
  const id = await workspaceId(world, slug);
  const { id: limited, secret } = await world.fixtures.key(id, { monthly_limit: "100" });
  await sql.query(
    `insert into public.key_spend (workspace_id, api_key_id, month, amount_usd, message_count)
     values ($1, $2, date_trunc('month', now(), 'UTC'), 90.010000000000000001, 1)`,
    [id, limited],
  );
  expect(secret).not.toBe("");
  await world.fixtures
    .key(id)
    .then(({ id: revoked }) =>
      sql.query("update public.api_keys set name = 'Old', revoked_at = now() where id = $1", [revoked]),
    );
  const client = await clientOf(world, slug);
  const post = async (message: Record<string, unknown>) => {
    const answer = await client.post({ project: "search", source: "api", message });
    expect(answer.status, JSON.stringify(answer.body)).toBe(201);
  };
  const line = { unit_type: "requests", quantity: 2, estimated_cost: 0.25 };
  await post({
    type: "batch",
    provider: "in-house",
    batch_id: "b-9",
    items: [
      { ...line, model: "fast", feature: "chat" },
      { unit_type: "requests", quantity: 3, model: "unheard-of" },
    ],
  });
  // The price catalogues do not agree about it.
  await post({
    type: "usage",
    provider: "together",
    model: "meta-llama/Llama-3.3-70B-Instruct-Turbo",
    unit_type: "input_tokens",
    quantity: 1_000,
  });
  await post({ type: "subscription", vendor: "Figma", amount: 45.5, currency: "EUR", recurring: true });
  await post({ type: "allocation", from_project: "checkout", amount: 30 });
  await client.post(costMessage({ user: "ada@example.org", tags: { owner: "ada@example.org" } }));
  await sql.query(
    `insert into public.projects (workspace_id, slug, name)
     select $1, 'other-' || number, 'Other ' || number from generate_series(1, 8) as number`,
    [id],
  );
  await addChannel(world.fixtures, id, {
    name: "Finance hook",
    address: "http://127.0.0.1:9/",
    target: "127.0.0.1:9",
  });
  await raiseLasting(world.fixtures, crossing(id, { level: "50" }), crossing(id));
  await judgeKeyRules(world.fixtures);
}

/** Closes a month, and leaves one that can be closed. */
async function closeMonth(
  world: World,
  slug: string,
  make: (path: string, body: unknown) => Promise<unknown>,
): Promise<void> {
  const client = await clientOf(world, slug);
  for (const month of [earlier, closed]) {
    const message = { type: "expense", vendor: "Printer", amount: 12, occurred_at: `${month}-05T09:00:00Z` };
    expect((await client.post({ project: "search", source: "api", message })).status).toBe(201);
  }
  await make("/closed-months", { month: earlier });
}
