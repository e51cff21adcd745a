import { expect } from "vitest";
import type { Signal } from "@/lib/sources/otlp/entry";
import type { Harness } from "./harness";
import type { KeyOptions } from "./keys";
import { toProtobuf } from "./otlp";

/** An export to send. */
export type Sent = { signal: Signal; body: unknown };
type SendOptions = {
  encoding?: "json" | "protobuf";
  headers?: Record<string, string>;
  path?: string;
  /** The address of the service to send to; by default the first one. */
  base?: string;
};

/** A workspace with a key, what it sends, and what was recorded for it. @param existing the id of a workspace to use */
export async function makeSource(harness: Harness, options: KeyOptions = {}, existing?: string) {
  const workspace = existing ?? (await harness.fixtures.workspace());
  const { secret, id } = await harness.fixtures.key(workspace, options);
  const url = harness.services[0]?.baseUrl ?? "";
  const send = async (
    { signal, body }: Sent,
    { encoding = "json", headers = {}, path, base = url }: SendOptions = {},
  ) => {
    const bytes = encoding === "json" ? JSON.stringify(body) : new Uint8Array(toProtobuf(signal, body));
    return fetch(`${base}${path ?? `/api/otlp/v1/${signal}`}`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${secret}`,
        "content-type": encoding === "json" ? "application/json" : "application/x-protobuf",
        ...headers,
      },
      body: bytes,
    });
  };
  const accept = async (sent: Sent, how?: SendOptions) => {
    const response = await send(sent, how);
    expect(response.status, await response.clone().text()).toBe(200);
    return response;
  };
  /** Units with their quantities, in all and by message; voided ones do not count. */
  const recorded = async () => {
    const { rows } = await harness.fixtures.sql.query(
      `select unit_type, sum(quantity)::float as quantity from public.messages where workspace_id = $1
       group by 1 having sum(quantity) <> 0 order by 1`,
      [workspace],
    );
    return Object.fromEntries(rows.map(({ unit_type, quantity }) => [unit_type, quantity]));
  };
  const messages = async () => {
    const { rows } = await harness.fixtures.sql.query(
      `select p.slug as project, m.provider, m.model, m.feature, m.source, m.type, m.cost_status, m.metadata, m.occurred_at
       from public.messages as m join public.projects as p on p.id = m.project_id
       where m.workspace_id = $1 and m.part = 0 and m.voids is null and m.voided_by is null order by m.occurred_at, m.id`,
      [workspace],
    );
    return rows;
  };
  return { workspace, id, secret, url, send, accept, recorded, messages };
}
