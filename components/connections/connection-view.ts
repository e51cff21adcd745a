import type { z } from "zod";
import { exactText } from "@/components/amount";
import type { connection } from "@/lib/contract/connections";

type Connection = z.output<typeof connection>;

/** A connection with its money as exact text, so that it can go from a server component into an island. */
export type ConnectionView = Omit<Connection, "monthly_limit" | "spent"> & {
  /** USD. */
  monthly_limit: string | null;
  /** USD in the current UTC month. */
  spent: string;
};

/** The element that the focus goes to when a connection leaves the list. */
export const connectionsId = "connections";

/** A connection of the service's answer as components take it. */
export function viewConnection(connection: Connection): ConnectionView {
  return {
    ...connection,
    monthly_limit: connection.monthly_limit === null ? null : exactText(connection.monthly_limit),
    spent: exactText(connection.spent),
  };
}
