import type { AlertRule, AlertState, AlertSubjectType } from "@/lib/contract/alerts/alert-rules";
import { bigint, date, json, nullable, text, timestamp, uuid } from "@/lib/db/columns";
import { sql } from "@/lib/db/sql";

/** SQL for the slug of the project that the budget of an alert `a` is limited to; null if there is none. */
export const projectSlug = sql`(
    select p.slug from public.projects as p
    where p.workspace_id = a.workspace_id and a.details ->> 'scope_type' = 'project'
      and a.details ->> 'scope_value' in (p.id::text, p.slug)
    limit 1
  )`;

/** The columns of an alert in each list of alerts, with the slug of the project that its budget is limited to. */
export const alertColumns = {
  id: uuid(),
  number: bigint(),
  rule: text<AlertRule>(),
  state: text<AlertState>(),
  subject_type: text<AlertSubjectType>(),
  subject_id: text(),
  period: date(),
  level: text(),
  details: json<unknown>(),
  fired_at: timestamp(),
  project_slug: nullable(text()),
};

/** SQL that selects `alertColumns` of an alert `a`. */
export const selectedAlert = sql`a.id, a.number, a.rule, a.state, a.subject_type, a.subject_id, a.period, a.level, a.details, a.fired_at,
    ${projectSlug} as project_slug`;
