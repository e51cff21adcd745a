import { z } from "zod";
import { validationFailed } from "@/lib/errors";

/** A place in the order of the audit log: the entry it stands behind. `at` is exact to the microsecond, ISO 8601 in UTC. */
export type AuditPlace = { at: string; id: string };

const stored = z.tuple([z.iso.datetime(), z.uuid()]);

/** A place as opaque text for `next_cursor`. */
export function writeCursor({ at, id }: AuditPlace): string {
  return Buffer.from(JSON.stringify([at, id])).toString("base64url");
}

/** @throws ServiceError validation_failed where it is no cursor of this list */
export function readCursor(cursor: string): AuditPlace {
  const read = stored.safeParse(parse(cursor));
  if (read.success) return { at: read.data[0], id: read.data[1] };
  const message = "is not a cursor of this list; pass next_cursor as it came, or leave it out to begin anew";
  throw validationFailed([{ path: "query.cursor", message }]);
}

function parse(cursor: string): unknown {
  try {
    return JSON.parse(Buffer.from(cursor, "base64url").toString("utf8"));
  } catch {
    return undefined;
  }
}
