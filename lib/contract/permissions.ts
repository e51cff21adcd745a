import { z } from "zod";

/** What a key may be allowed to do (specification section 5). */
export const permissions = ["log_usage", "add_expenses", "manage_subscriptions", "read_summaries"] as const;
export const permission = z.enum(permissions);
export type Permission = z.infer<typeof permission>;
