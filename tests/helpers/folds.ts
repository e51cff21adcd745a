import type { Fixtures } from "./keys";

/** Folds past days until none are left, as the service's job does, and makes all slices of their months, however few sums these have. */
export async function foldPastDays(fixtures: Fixtures): Promise<void> {
  await foldDays(fixtures);
  await sliceMonths(fixtures);
}

/** Folds past days until none are left, and makes no slices. */
export async function foldDays({ sql }: Fixtures): Promise<void> {
  for (;;) {
    const { rows } = await sql.query<{ folded: number | null }>("select private.fold_past_days() as folded");
    if (rows[0]?.folded == null) return;
  }
}

/** Makes all slices of the months that have none. */
export async function sliceMonths({ sql }: Fixtures): Promise<void> {
  await sql.query("select private.claim_month_to_slice(workspace_id, month) from private.months_to_slice()");
  await sql.query(
    "select private.slice_month(workspace_id, month, 0, 1000000, 1) from private.months_to_slice()",
  );
}
