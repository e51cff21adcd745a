import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "@/tests/helpers/free-port";
import { startGateway } from "./gateway";
import { type Conditions, type Peer, send } from "./peer";
import { model } from "./provider";

const masterKey = "otari-master-key-of-the-bench";
const user = "caller";

/** Starts Otari with a user whose budget is the limit. @param program `otari` of its own Python environment */
export async function startOtari(
  program: string,
  { provider, limitUsd, databaseUrl }: Conditions,
): Promise<Peer> {
  const folder = mkdtempSync(join(tmpdir(), "outlay-peers-"));
  const address = `http://127.0.0.1:${await freePort()}`;
  const settings = {
    database_url: databaseUrl,
    // More connections than callers, so that none waits for one.
    db_pool_size: 80,
    db_max_overflow: 0,
    host: "127.0.0.1",
    port: Number(new URL(address).port),
    master_key: masterKey,
    model_discovery: false,
    models_dev_metadata: false,
    providers: { openai: { api_key: "none", api_base: provider.url } },
    pricing: {
      [`openai:${model.name}`]: {
        input_price_per_million: model.inputUsd,
        output_price_per_million: model.outputUsd,
      },
    },
  };
  // JSON is YAML.
  writeFileSync(join(folder, "otari.yml"), JSON.stringify(settings));
  let key = "";
  const gateway = await startGateway(
    {
      program: [program, "serve", "--config", join(folder, "otari.yml"), "--log-level", "ERROR"],
      environment: {},
      address,
      health: "/health",
      model: `openai:${model.name}`,
    },
    () => key,
  );
  const manage = async (path: string, body?: unknown) => {
    const answer = await send(`${address}/v1/${path}`, masterKey, body);
    if (answer.status >= 300) throw new Error(`${path} was answered ${JSON.stringify(answer)}`);
    return answer.body;
  };
  const { budget_id } = await manage("budgets", { max_budget: limitUsd });
  await manage("users", { user_id: user, budget_id });
  key = String((await manage("keys", { key_name: "Bench", user_id: user })).key);
  return {
    ...gateway,
    read: async () => {
      const { spend, reserved } = await manage(`users/${user}`);
      return { usd: Number(spend), heldUsd: Number(reserved) };
    },
    stop: async () => {
      await gateway.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
