import type { Fixtures } from "./keys";

/** Folds past days until none are left, as the service's job does. */
export async function foldPastDays({ sql }: Fixtures): Promise<void> {
  for (;;) {
    const { rows } = await sql.query<{ folded: number | null }>("select private.fold_past_days() as folded");
    if (rows[0]?.folded == null) return;
  }
}
