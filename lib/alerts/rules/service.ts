import type { PoolClient } from "pg";
import type { z } from "zod";
import { requireMembership } from "@/lib/access/workspaces/membership";
import { readContext } from "@/lib/alerts/alert";
import { wordsOf } from "@/lib/alerts/words";
import {
  type AlertRule,
  type AlertRuleSetting,
  type alertRuleList,
  alertRules,
  type alertSnooze,
  type EditAlertRuleRequest,
  maxSnoozeDays,
  ruleParameters,
  type SnoozeRequest,
} from "@/lib/contract/alerts/alert-rules";
import { toInstant } from "@/lib/contract/values/instant";
import { asServiceWithin, asUser, asUserReading, callAsService, type UserClaims } from "@/lib/db/transaction";
import { notFound, validationFailed } from "@/lib/errors";
import {
  addSnooze,
  hasAlertOf,
  removeSnooze,
  type SettingRow,
  type SnoozeRow,
  type StateRow,
  selectSettings,
  selectSnoozes,
  selectStates,
  setRule,
} from "./rule-queries";

type Snooze = z.output<typeof alertSnooze>;

/** The most subjects that are listed for each rule. */
const maxSubjects = 50;

/** Lists the rules with their settings and present states, for members. @throws ServiceError not_found */
export function listAlertRules(claims: UserClaims, slug: string): Promise<z.output<typeof alertRuleList>> {
  return asUserReading(claims, async (client) => {
    const { id, role } = await requireMembership(client, claims, slug);
    return { rules: await loadRules(client, id), can_edit: ["owner", "admin"].includes(role) };
  });
}

/**
 * Turns a rule on or off, or sets its parameter, for admins.
 * @throws ServiceError not_found, permission_denied, validation_failed
 */
export function editAlertRule(
  claims: UserClaims,
  slug: string,
  rule: AlertRule,
  { enabled, parameter }: EditAlertRuleRequest,
): Promise<AlertRuleSetting> {
  return asUser(claims, async (client) => {
    const { id } = await requireMembership(client, claims, slug, "admin");
    if (parameter !== undefined) checkParameter(rule, parameter);
    const changes = {
      ...(enabled !== undefined && { is_on: enabled }),
      ...(parameter !== undefined && { parameter }),
    };
    if (Object.keys(changes).length > 0) {
      await asServiceWithin(client, () => setRule(client, id, rule, changes));
    }
    const changed = (await loadRules(client, id)).find((each) => each.rule === rule);
    if (!changed) throw notFound();
    return changed;
  });
}

/**
 * Stops sending the alerts of a rule, or of one of its subjects, until a given time, for admins. A later snooze of the same rule
 * or subject replaces it.
 * @throws ServiceError not_found, permission_denied, validation_failed if the time is in the past or too far away, or the rule
 *   never raised an alert for the subject
 */
export function snoozeAlerts(
  claims: UserClaims,
  slug: string,
  { rule, subject_id: subjectId, until }: SnoozeRequest,
): Promise<Snooze> {
  return asUser(claims, async (client) => {
    const { id } = await requireMembership(client, claims, slug, "admin");
    if (subjectId !== null && !(await hasAlertOf(client, id, rule, subjectId))) {
      const message = "must be the subject of an alert of this rule";
      throw validationFailed([{ path: "subject_id", message }]);
    }
    const made = await asServiceWithin(client, () =>
      addSnooze(client, id, rule, subjectId, until, maxSnoozeDays),
    );
    if (made === null) {
      const message = `must be in the future, and within ${maxSnoozeDays} days`;
      throw validationFailed([{ path: "until", message }]);
    }
    return loadSnooze(client, id, made);
  });
}

/** Ends a snooze, for admins. @returns the ended snooze. @throws ServiceError not_found, permission_denied */
export function endSnooze(claims: UserClaims, slug: string, id: string): Promise<Snooze> {
  return asUser(claims, async (client) => {
    const { id: workspaceId } = await requireMembership(client, claims, slug, "admin");
    const last = await loadSnooze(client, workspaceId, id);
    await asServiceWithin(client, () => removeSnooze(client, workspaceId, id));
    return last;
  });
}

/** @throws ServiceError validation_failed if the rule has no parameter, or not with this value */
function checkParameter(rule: AlertRule, value: number | null): void {
  const bounds = ruleParameters[rule];
  if (value === null) return;
  const isWhole = Number.isInteger(value);
  const message = !bounds
    ? "must be left out: the rule has nothing to set"
    : value < bounds.least || value > bounds.most
      ? `must be from ${bounds.least} to ${bounds.most}`
      : (bounds.unit === "days" || bounds.unit === "hours") && !isWhole
        ? `must be a whole number of ${bounds.unit}`
        : undefined;
  if (message) throw validationFailed([{ path: "parameter", message }]);
}

async function loadSnooze(client: PoolClient, workspaceId: string, id: string): Promise<Snooze> {
  const [row] = await selectSnoozes(client, workspaceId, id);
  if (!row) throw notFound();
  return { ...row, until: toInstant(row.until.getTime()) };
}

async function loadRules(client: PoolClient, workspaceId: string): Promise<AlertRuleSetting[]> {
  const settings = await selectSettings(client, workspaceId);
  const states = await selectStates(client, workspaceId, maxSubjects);
  const snoozes = await selectSnoozes(client, workspaceId);
  return alertRules.flatMap((rule) => {
    const row = settings.find((setting) => setting.rule === rule);
    return row ? [toSetting(row, states, snoozes)] : [];
  });
}

function toSetting(row: SettingRow, states: StateRow[], snoozes: SnoozeRow[]): AlertRuleSetting {
  const { rule } = row;
  const own = states.filter((state) => state.rule === rule);
  const worst = own.some(({ state }) => state === "alert") ? "alert" : own[0]?.state;
  const snoozeOf = (subjectId: string | null) => {
    const found = snoozes.find((snooze) => snooze.rule === rule && snooze.subject_id === subjectId);
    return found ? { id: found.id, until: toInstant(found.until.getTime()) } : null;
  };
  const bounds = ruleParameters[rule];
  return {
    rule,
    enabled: row.is_on,
    parameter: bounds && {
      ...bounds,
      value: Number(row.parameter),
      default: Number(row.default_parameter),
    },
    state: !row.is_on ? "off" : (worst ?? (row.has_data ? "ok" : "no_data")),
    subjects: own.map((state) => ({
      type: state.subject_type,
      id: state.subject_id,
      name: readContext(state).name,
      state: state.state,
      since: toInstant(state.since.getTime()),
      title: titleOf(state),
      snooze: snoozeOf(state.subject_id),
    })),
    snooze: snoozeOf(null),
  };
}

function titleOf(row: StateRow): string {
  const since = toInstant(row.since.getTime());
  return wordsOf({ ...row, id: "", period: "", fired_at: since, project_slug: null }).title;
}

/**
 * Judges the rules about keys and sources for all workspaces, and raises the alerts. Does nothing while another process judges.
 * @returns how many alerts were to be raised. @throws ServiceError unavailable
 */
export function judgeKeyRules(): Promise<number> {
  return callAsService("private.judge_key_rules");
}

/** Like `judgeKeyRules`, for the rules about usage, which read more and are judged less often. */
export function judgeUsageRules(): Promise<number> {
  return callAsService("private.judge_usage_rules");
}
