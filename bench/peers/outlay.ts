import { randomUUID } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import { Fixtures } from "@/tests/helpers/keys";
import { type Service, startService } from "@/tests/helpers/service";
import { type Conditions, type Outcome, type Peer, send } from "./peer";
import { completion, model, tokens } from "./provider";

/** The databases of the service itself, whose migrations have run. */
export type Database = Parameters<typeof startService>[0];

/** Starts two processes of Outlay with a key whose monthly limit is the limit. Callers reserve, call the model and record the call. */
export async function startOutlay(
  database: Database,
  { provider, limitUsd }: Omit<Conditions, "databaseUrl">,
): Promise<Peer> {
  const fixtures = new Fixtures(database.adminUrl);
  const { secret } = await fixtures.key(await fixtures.workspace(), { monthly_limit: String(limitUsd) });
  const services: Service[] = [await startService(database), await startService(database)];
  const lines = [
    { unit_type: "input_tokens", quantity: tokens.input },
    { unit_type: "output_tokens", quantity: tokens.output },
  ];
  const asked = {
    project: "bench",
    message: { type: "usage", provider: "openai", model: model.name, lines },
  };
  let next = 0;
  /** Asks one process after the other until one answers, as a client that retries with the same idempotency key. */
  const persist = async (path: string, body: unknown) => {
    for (;;) {
      next += 1;
      const { baseUrl } = services[next % services.length] as Service;
      const answer = await send(baseUrl + path, secret, body).catch(() => undefined);
      if (answer && answer.status < 500) return answer;
      await wait(50);
    }
  };
  return {
    call: async (): Promise<Outcome> => {
      const reserved = await persist("/api/v1/reservations", { ...asked, idempotency_key: randomUUID() });
      if (reserved.status === 402) return "refused";
      const called = await send(`${provider.url}/chat/completions`, "none", completion);
      if (reserved.status !== 201 || called.status !== 200)
        throw new Error(`A call was answered ${JSON.stringify([reserved, called])}`);
      const { id: reservation_id } = reserved.body;
      const message = { ...asked, source: "api", reservation_id, idempotency_key: randomUUID() };
      const recorded = await persist("/api/v1/messages", message);
      if (recorded.status !== 201) throw new Error(`A record was answered ${JSON.stringify(recorded)}`);
      return "answered";
    },
    pids: () => services.map(({ process }) => process.pid ?? 0),
    kill: async () => {
      const successor = await startService(database);
      const [killed] = services.splice(1, 1, successor);
      await killed?.kill();
    },
    read: async () => {
      const [answer, { rows }] = await Promise.all([
        persist("/api/v1/limits", undefined),
        fixtures.sql.query("select count(*)::int as calls from public.messages where part = 0"),
      ]);
      const { spent_usd, held_usd } = (answer.body.key as { monthly_limit: Record<string, number> })
        .monthly_limit;
      return { calls: rows[0].calls, usd: spent_usd ?? 0, heldUsd: held_usd ?? 0 };
    },
    stop: async () => {
      await fixtures.close();
      for (const service of services) await service.stop();
    },
  };
}
