import { z } from "zod";
import { validationFailed } from "@/lib/errors";

/** A place in the order of activity: the row it stands behind. `at` is exact to the microsecond, ISO 8601 in UTC. */
export type ActivityPlace = { at: string; id: string; part: number };

const stored = z.tuple([z.iso.datetime(), z.uuid(), z.int().min(-1).max(32_767)]);

/** A place as opaque text for `next_cursor`. */
export function writeCursor({ at, id, part }: ActivityPlace): string {
  return Buffer.from(JSON.stringify([at, id, part])).toString("base64url");
}

/** @throws ServiceError validation_failed where it is no cursor of ours */
export function readCursor(cursor: string): ActivityPlace {
  const read = stored.safeParse(parse(cursor));
  if (!read.success) {
    const message =
      "is not a cursor of this list; pass next_cursor as it came, or leave it out to begin anew";
    throw validationFailed([{ path: "query.cursor", message }]);
  }
  const [at, id, part] = read.data;
  return { at, id, part };
}

function parse(cursor: string): unknown {
  try {
    return JSON.parse(Buffer.from(cursor, "base64url").toString("utf8"));
  } catch {
    return undefined;
  }
}
