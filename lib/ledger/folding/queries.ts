import type { ClientBase } from "pg";
import { callFunction } from "@/lib/db/query";

/** Folds past days of one workspace. @returns the number of sums; null where nothing is left to fold */
export function foldPastDays(client: ClientBase): Promise<number | null> {
  return callFunction(client, "private.fold_past_days");
}
