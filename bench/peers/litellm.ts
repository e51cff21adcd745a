import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "@/tests/helpers/free-port";
import { startGateway } from "./gateway";
import { type Conditions, type Peer, send } from "./peer";
import { model } from "./provider";

const masterKey = "sk-master-key-of-the-bench";

/**
 * Starts LiteLLM's proxy with a budget of the provider. It has no database: it would need Prisma's engine, which is no package.
 * @param program `litellm` of its own Python environment
 */
export async function startLitellm(program: string, { provider, limitUsd }: Conditions): Promise<Peer> {
  const folder = mkdtempSync(join(tmpdir(), "outlay-peers-"));
  const address = `http://127.0.0.1:${await freePort()}`;
  const settings = {
    model_list: [
      {
        model_name: model.name,
        litellm_params: { model: `openai/${model.name}`, api_base: provider.url, api_key: "none" },
      },
    ],
    router_settings: { provider_budget_config: { openai: { budget_limit: limitUsd, time_period: "30d" } } },
    litellm_settings: { num_retries: 0 },
    general_settings: { master_key: masterKey },
  };
  writeFileSync(join(folder, "litellm.yml"), JSON.stringify(settings));
  const gateway = await startGateway(
    {
      program: [
        program,
        "--config",
        join(folder, "litellm.yml"),
        "--host",
        "127.0.0.1",
        "--port",
        new URL(address).port,
      ],
      environment: { LITELLM_LOCAL_MODEL_COST_MAP: "True", LITELLM_LOG: "ERROR" },
      address,
      health: "/health/liveliness",
      model: model.name,
    },
    () => masterKey,
  );
  return {
    ...gateway,
    read: async () => {
      const { body } = await send(`${address}/provider/budgets`, masterKey);
      const { openai } = body.providers as Record<string, { spend: number }>;
      return { usd: openai?.spend ?? 0 };
    },
    stop: async () => {
      await gateway.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
