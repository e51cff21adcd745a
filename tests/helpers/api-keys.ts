import { expect } from "vitest";
import { apiClient } from "./client";
import type { Team } from "./team";

/** An API key as the API describes it, with its new secret. */
export type Key = Record<string, unknown> & { id: string; secret: string };

/** Calls that manage a team's keys, as its owner. @param team the team, once it is made. @param baseUrl the address of the service */
export function manageKeys(team: () => Team, baseUrl: () => string) {
  const keys = () => `${team().path}/api-keys`;
  const create = (body: Record<string, unknown> = {}) =>
    team().users.owner.call("POST", keys(), {
      name: "CI",
      permissions: ["log_usage", "read_summaries"],
      ...body,
    });
  const created = async (body?: Record<string, unknown>) => {
    const answer = await create(body);
    expect(answer.status, JSON.stringify(answer.body)).toBe(201);
    return answer.body as Key;
  };
  const edit = (id: string, body: unknown) => team().users.owner.call("PATCH", `${keys()}/${id}`, body);
  const listed = async (id: string) =>
    ((await team().users.viewer.get(keys())).body.api_keys as Key[]).find((key) => key.id === id);
  const using = ({ secret }: { secret: string }) => apiClient(baseUrl(), secret);
  return { keys, create, created, edit, listed, using };
}

/** The status and the code of an answer, as in `409 conflict` or `200 ok`. */
export const codeOf = ({ status, body }: { status: number; body: Record<string, unknown> }) =>
  `${status} ${body.error ?? "ok"}`;
