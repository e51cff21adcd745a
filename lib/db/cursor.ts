import type { z } from "zod";
import { validationFailed } from "@/lib/errors";

/** Encodes positions in a list as the opaque text of its `next_cursor`. */
export type Cursor<Place> = {
  write(place: Place): string;
  /** @throws ServiceError validation_failed, naming `query.cursor`, if the text is not a cursor of this list */
  read(cursor: string): Place;
};

/** The cursor of a list. @param place the schema of a position; all other texts are refused */
export function cursorOf<Place>(place: z.ZodType<Place>): Cursor<Place> {
  return {
    // The schema reduces a whole row to the position.
    write: (written) => Buffer.from(JSON.stringify(place.parse(written))).toString("base64url"),
    read: (cursor) => {
      const read = place.safeParse(parse(cursor));
      if (read.success) return read.data;
      const message =
        "is not a cursor of this list; pass next_cursor as it came, or leave it out to begin anew";
      throw validationFailed([{ path: "query.cursor", message }]);
    },
  };
}

function parse(cursor: string): unknown {
  try {
    return JSON.parse(Buffer.from(cursor, "base64url").toString("utf8"));
  } catch {
    return undefined;
  }
}
