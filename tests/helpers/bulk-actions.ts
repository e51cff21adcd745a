import { randomUUID } from "node:crypto";
import { type Role, withCorrectingTeam } from "./corrections";
import { type Harness, ledgerDifferences } from "./harness";

/** A team whose members change many messages at once, and what its tests ask. */
export function withBulkActions(harness: Harness) {
  const correcting = withCorrectingTeam(harness);
  const { team, rows, as, recordWith } = correcting;

  /** Records messages, one after another. @returns their ids */
  const record = async (messages: object[], project = "checkout"): Promise<string[]> => {
    const ids = [];
    for (const message of messages) ids.push(await recordWith(message, project));
    return ids;
  };

  const actions = () => `${team.path}/messages/bulk-actions`;
  const act = (role: Role, body: object) => as(role).call("POST", actions(), { reason: "Wrong.", ...body });
  const voidAll = (role: Role, messages: string[], more: object = {}) =>
    act(role, { action: "void", messages, ...more });
  const change = (role: Role, messages: string[], set: object, more: object = {}) =>
    act(role, { action: "correct", messages, set, ...more });
  const takeBack = (role: Role, id: unknown) => as(role).call("POST", `${actions()}/${id}/restore`);

  const newProject = async () => {
    const slug = `p-${randomUUID()}`;
    await harness.fixtures.project(team.workspace, slug);
    return slug;
  };
  const differences = () => ledgerDifferences(harness.fixtures, team.workspace);

  /** The messages that replaced others. */
  const replacementsOf = async (ids: string[]) =>
    (await rows("select corrected_by from public.message_voids where message_id = any ($1)", [ids])).map(
      ({ corrected_by: id }) => id as string,
    );

  return {
    ...correcting,
    ...{ record, actions, act, voidAll, change, takeBack, newProject, differences, replacementsOf },
  };
}
