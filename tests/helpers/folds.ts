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

/**
 * Makes the slices of all months that lack them, one month per transaction, as the service's job does. A transaction that slices several
 * months can lock them in another order than a transaction that records messages, and end in a deadlock.
 */
export async function sliceMonths({ sql }: Fixtures): Promise<void> {
  const { rows } = await sql.query<{ workspace_id: string; month: string }>(
    "select workspace_id, month::text from private.months_to_slice()",
  );
  for (const { workspace_id, month } of rows) {
    await sql.query("select private.claim_month_to_slice($1, $2)", [workspace_id, month]);
    await sql.query("select private.slice_month($1, $2, 0, 1000000, 1)", [workspace_id, month]);
  }
}
