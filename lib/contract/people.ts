import { z } from "zod";
import { user } from "./attribution";
import { instant, uuid } from "./fields";

export const eraseRequest = z
  .strictObject({
    user: user.meta({ description: "The person, exactly as messages name them." }),
  })
  .meta({ id: "EraseRequest" });

/** An erasure of a person. It does not have their name. */
export const erasure = z
  .object({
    id: uuid,
    pseudonym: z.string().meta({
      description:
        "The pseudonym that replaces the name. It is random, so the name cannot be derived from it.",
    }),
    status: z.enum(["pending", "running", "done"]),
    changed_count: z.int().meta({ description: "Postings that have the pseudonym by now." }),
    created_at: instant,
    finished_at: instant.nullable(),
  })
  .meta({ id: "Erasure" });

export const erasureList = z
  .object({ erasures: z.array(erasure).meta({ description: "The latest first, at most 100." }) })
  .meta({ id: "ErasureList" });

export type Erasure = z.output<typeof erasure>;
