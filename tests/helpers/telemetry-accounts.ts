import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect } from "vitest";
import type { ProviderAccount } from "@/lib/contract/bills/provider-accounts";
import type { TelemetryProvider } from "@/lib/contract/bills/provider-telemetry";
import { type Simulator, simulateProviders } from "@/tests/providers/simulator/simulate-providers";
import type { OwnHarness } from "./harness";
import { makeTeam } from "./team";

/** The span of a call as Anthropic exports it. */
export const anthropicCall = {
  "gen_ai.operation.name": "chat",
  "gen_ai.provider.name": "anthropic",
  "gen_ai.request.model": "claude-sonnet-4-5",
  "gen_ai.response.id": "msg_01XFDUDYJgAACzvnptvVoYEL",
  "anthropic.request.id": "req_011CSHoEeqs5C35K2UUqR7Fy",
  "gen_ai.usage.input_tokens": 1000,
  "gen_ai.usage.output_tokens": 34,
};

/**
 * Starts a service that asks simulated providers, and makes accounts there that can send it their telemetry. `sealing`: the settings of
 * another service on the same database.
 */
export function telemetryAccounts(harness: OwnHarness) {
  let simulator: Simulator;
  const sealing = { SEALING_KEYS: Buffer.from("telemetry".padEnd(32, ".")).toString("base64") };
  beforeAll(async () => {
    simulator = await simulateProviders();
    await harness.start({ ...sealing, PROVIDER_URLS: simulator.providerUrls });
  });
  afterAll(() => simulator.close());

  async function withAccount(
    provider: TelemetryProvider | "openai" = "anthropic",
    services = harness.services.slice(0, 1),
  ) {
    const team = await makeTeam({ ...harness, services });
    const { admin } = team.users;
    const adminKey = `sk-ant-admin-${randomUUID()}`;
    const organization = simulator.add(adminKey, []);
    organization.limits.things = [
      { kind: "workspace", id: "ws_1", name: "Checkout" },
      { kind: "workspace", id: "ws_2", name: "Search", broadcasts: true },
    ];
    const accounts = `${team.path}/provider-accounts`;
    const added = await admin.call("POST", accounts, { provider, key: adminKey });
    expect(added.status, JSON.stringify(added.body)).toBe(201);
    const path = `${accounts}/${added.body.id}`;
    const sqlOf = async <T>(text: string) =>
      (await harness.fixtures.sql.query(text, [team.workspace])).rows as T[];
    const telemetryOf = ({ body }: { body: Record<string, unknown> }) =>
      (body as unknown as ProviderAccount).telemetry;
    const read = async () => {
      const all = (await admin.get(accounts)).body.accounts as ProviderAccount[];
      return all.find(({ id }) => id === added.body.id)?.telemetry;
    };
    return {
      ...{ ...team, admin, adminKey, organization, accounts, path, read, sqlOf },
      destinations: organization.destinations,
      register: async (body: object = {}) => {
        const answer = await admin.call("POST", `${path}/telemetry`, body);
        expect(answer.status, JSON.stringify(answer.body)).toBe(201);
        return telemetryOf(answer);
      },
      check: () => admin.call("POST", `${path}/telemetry/check`),
      end: (query = "") => admin.call("DELETE", `${path}/telemetry${query}`),
      remove: (query = "") => admin.call("DELETE", `${path}${query}`),
      /** Waits for a state. */
      becomes: (state: string) =>
        expect.poll(async () => (await read())?.state, { timeout: 10_000 }).toBe(state),
      keys: () =>
        sqlOf<{
          name: string;
          permissions: string[];
          on_limit: string;
          source_settings: object;
          is_revoked: boolean;
        }>(
          "select name, permissions, on_limit, source_settings, revoked_at is not null as is_revoked from public.api_keys where workspace_id = $1 and kind = 'key' order by created_at",
        ),
      recorded: () =>
        sqlOf<{ provider: string; model: string; usd: string; lines: Record<string, number> }>(
          `select provider, model, trim_scale(sum(amount_usd))::text as usd, json_object_agg(unit_type, quantity) as lines
         from public.messages where workspace_id = $1 group by id, provider, model order by id`,
        ),
      actions: async () =>
        (
          await sqlOf<{ action: string; email: string | null }>(
            "select action, actor_email as email from public.audit_log where workspace_id = $1 and action like 'provider_telemetry%' order by at, action desc",
          )
        ).map(({ action, email }) => `${action} by ${email === null ? "the service" : "a user"}`),
    };
  }
  return { withAccount, sealing };
}
