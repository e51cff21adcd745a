import { apiClient, costMessage } from "./client";
import type { Harness } from "./harness";
import type { KeyOptions } from "./keys";
import type { Team } from "./team";

/** Makes keys of a team's workspace that reserve, through either of a harness's two services, and ends reservations. */
export function reservationsOf(harness: Harness, team: () => Team) {
  /** What a key can do, through either process. */
  async function holder(options: KeyOptions = {}) {
    const { id, secret } = await harness.fixtures.key(team().workspace, options);
    const client = (process: number) => apiClient(harness.services[process]?.baseUrl ?? "", secret);
    const usage = (usd: number, message: object = {}) =>
      costMessage({ estimated_cost: usd, ...message }).message;
    return {
      id,
      reserve: (
        usd: number,
        more: { message?: object; process?: number; key?: string; seconds?: number } = {},
      ) =>
        client(more.process ?? 0).call(
          "POST",
          "/api/v1/reservations",
          {
            project: "checkout",
            message: usage(usd, more.message),
            ...(more.seconds && { expires_in_seconds: more.seconds }),
          },
          more.key ? { "idempotency-key": more.key } : {},
        ),
      /** Reserves a cost as it is written in JSON. */
      reserveWritten: (usd: string) =>
        client(0).call(
          "POST",
          "/api/v1/reservations",
          JSON.stringify({ project: "checkout", message: usage(0) }).replace(
            '"estimated_cost":0',
            `"estimated_cost":${usd}`,
          ),
        ),
      record: (
        usd: number,
        reservation_id?: string,
        more: { process?: number; project?: string; key?: string } = {},
      ) =>
        client(more.process ?? 0).post({
          ...costMessage({ estimated_cost: usd }, more.project ? { project: more.project } : {}),
          ...(reservation_id && { reservation_id }),
          ...(more.key && { idempotency_key: more.key }),
        }),
      /** Records costs in one call, each with the reservation that it names. @returns their results */
      recordTogether: async (...costs: [usd: number, reservation_id?: string][]) => {
        const messages = costs.map(([usd, id]) => ({
          ...costMessage({ estimated_cost: usd }),
          ...(id && { reservation_id: id }),
        }));
        const { body } = await client(0).call("POST", "/api/v1/messages/batch", { messages });
        return body.results as { status: number; reservation?: { state: string } }[];
      },
      read: (id: unknown) => client(1).get(`/api/v1/reservations/${id}`),
      release: (id: unknown, process = 0) => client(process).call("DELETE", `/api/v1/reservations/${id}`),
      limits: async () =>
        (await client(1).get("/api/v1/limits")).body as {
          key: { monthly_limit: Record<string, unknown> | null };
          budgets: Record<string, unknown>[];
        },
    };
  }

  /** Lets reservations end now, as the database's clock would later. */
  const end = (id: unknown) =>
    harness.fixtures.sql.query(
      "update private.reservations set created_at = now() - interval '2 hours', expires_at = now() - interval '1 second' where id = $1",
      [id],
    );
  return { holder, end };
}
