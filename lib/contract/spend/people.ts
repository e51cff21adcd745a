import { z } from "zod";
import { user } from "@/lib/contract/ledger/attribution";
import { instant, uuid } from "@/lib/contract/values/fields";

export const eraseRequest = z
  .strictObject({
    user: user.meta({
      description:
        "The person's name, as messages have it in `user`. An e-mail address is found in any letter case, another name exactly as it is.",
    }),
  })
  .meta({ id: "EraseRequest" });

/** An erasure of a person. It does not contain their name. */
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

/** Where a person's name is stored. */
export const erasurePreview = z
  .object({
    spellings: z
      .array(z.string())
      .meta({ description: "The name, and for an e-mail address its other spellings in usage." }),
    message_count: z.int().meta({ description: "Messages recorded for the person." }),
    billed_count: z.int().meta({
      description:
        "Rows of bills that name the person; of an e-mail address, those that have it in a key or a description, too.",
    }),
    budgets: z
      .array(z.string())
      .meta({ description: "Names of budgets of the person, or that have the name in them." }),
    api_keys: z
      .array(z.string())
      .meta({ description: "Names of API keys whose conditions name the person." }),
    provider_limits: z.array(z.string()).meta({
      description:
        "Names of limits at providers that are set for the person, or that contain the person's e-mail address. They are unlinked, and stay there.",
    }),
    alert_count: z.int().meta({ description: "Alerts that have the name in them." }),
    audit_count: z.int().meta({ description: "Entries of the audit log that have the name in them." }),
    request_count: z.int().meta({
      description:
        "Requests kept for their idempotency keys that have the name in them, of the first 100,000. Their labels, notes, metadata, sessions and tags with the name are cleared.",
    }),
    stays: z.object({
      tags: z.array(z.string()).meta({ description: "Tags with the name in them, which stay." }),
      not_searched: z.array(z.string()).meta({
        description: "The texts that are not searched and stay as they are. Correct or void their messages.",
      }),
    }),
  })
  .meta({ id: "ErasurePreview" });

export const erasureList = z
  .object({ erasures: z.array(erasure).meta({ description: "The latest first, at most 100." }) })
  .meta({ id: "ErasureList" });

export type Erasure = z.output<typeof erasure>;
