import type { z } from "zod";
import { exactText } from "@/components/figures/amount";
import type { connection } from "@/lib/contract/access/connections";

type Connection = z.output<typeof connection>;

/** A connection with its amounts as exact text, so that a server component can pass it to a client component. */
export type ConnectionView = Omit<Connection, "monthly_limit" | "spent"> & {
  /** USD. */
  monthly_limit: string | null;
  /** USD in the current UTC month. */
  spent: string;
};

/** Id of the element that gets the focus when a connection leaves the list. */
export const connectionsId = "connections";

/** Maps a connection of the service's answer to a ConnectionView. */
export function toConnectionView(connection: Connection): ConnectionView {
  return {
    ...connection,
    monthly_limit: connection.monthly_limit === null ? null : exactText(connection.monthly_limit),
    spent: exactText(connection.spent),
  };
}
