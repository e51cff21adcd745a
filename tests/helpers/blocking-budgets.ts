import { expect } from "vitest";
import type { Team } from "./team";

/** What sets, edits and reads budgets of a team's workspace. A budget that is set blocks at $1 over everything unless `body` says otherwise. */
export function blockingBudgetsOf(team: () => Team) {
  const create = async (body: Record<string, unknown>) => {
    const answer = await team().users.admin.call("POST", `${team().path}/budgets`, {
      scope_type: "global",
      amount: 1,
      blocks: true,
      allow_unknown_scope: true,
      ...body,
    });
    expect(answer.status).toBe(201);
    return answer.body as { id: string; name: string; period_from: string; period_until: string };
  };
  const edit = (id: string, body: Record<string, unknown>) =>
    team().users.admin.call("PATCH", `${team().path}/budgets/${id}`, body);
  const read = async (id: string) => (await team().users.viewer.get(`${team().path}/budgets/${id}`)).body;
  return { create, edit, read };
}
