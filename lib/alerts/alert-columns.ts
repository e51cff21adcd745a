import { sql } from "@/lib/db/sql";

/** Of an alert `a` in SQL: the slug of the project that its budget is limited to, while there is one. */
export const projectSlug = sql`(
    select p.slug from public.projects as p
    where p.workspace_id = a.workspace_id and a.details ->> 'scope_type' = 'project'
      and a.details ->> 'scope_value' in (p.id::text, p.slug)
    limit 1
  )`;
