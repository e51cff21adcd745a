import { z } from "zod";
import { workspaceSlug } from "@/lib/contract/access/workspace";
import { decimalNumber, instant, uuid } from "@/lib/contract/values/fields";
import { limitKinds, limitPeriods } from "./limit-kinds";
import { providerAccount } from "./provider-accounts";

/** The states of a limit at a provider. */
export const limitStates = ["waiting", "equal", "drift", "refused", "gone", "removing"] as const;
export type LimitState = (typeof limitStates)[number];

const provider = providerAccount.shape.provider;
const kind = z.enum(limitKinds).meta({
  description:
    "What is limited there: `project` and `organization` of OpenAI; `workspace`, `organization` and `member` of Anthropic; `key` and `workspace` of OpenRouter; `organization` and `member` of GitHub; `member` of Cursor.",
});
const period = z.enum(limitPeriods).meta({ description: "After what it resets." });

const held = z.object({
  limit_usd: decimalNumber("The limit that it holds, USD; null: none.").nullable(),
  period: z.string().nullable().meta({ description: "`day`, `week`, `month`, or the provider's own word." }),
  stops: z.boolean().meta({ description: "False where it only alerts, or is turned off." }),
});

export const providerLimit = z
  .object({
    id: uuid,
    budget: z
      .object({ id: uuid, name: z.string() })
      .nullable()
      .meta({ description: "The budget whose limit it follows; null where that was deleted." }),
    account: z.object({
      id: uuid.meta({ description: "The provider account whose key sets it." }),
      provider,
      name: z.string().nullable().meta({ description: "The account's name, where there are several." }),
    }),
    kind,
    name: z.string().nullable().meta({
      description:
        "The name of what is limited, as the provider has it; until it was read, the one given with the link, or null.",
    }),
    period,
    state: z.enum(limitStates).meta({
      description:
        "`waiting`: the limit is about to be written, or a failed attempt is repeated. `equal`: the provider holds it. `drift`: the provider holds another one, which someone set there. `refused`: the provider refused it. `gone`: the provider has no such thing any more. `removing`: it is being removed there.",
    }),
    problem: z
      .string()
      .nullable()
      .meta({ description: "Why the last attempt was refused or failed, in the provider's own words." }),
    limit_usd: decimalNumber(
      "The budget's present limit as the provider takes it, USD: with a raise, cut off to whole cents, at GitHub and Cursor to whole dollars. Null without a budget.",
    ).nullable(),
    written_usd: decimalNumber("The limit that was written last, USD.").nullable(),
    written_at: instant.nullable(),
    held: held.nullable().meta({ description: "What the provider held when it was read; null before." }),
    read_at: instant.nullable(),
    is_due: z.boolean().meta({ description: "Whether it is being written or read, or about to be." }),
    removes_limit: z
      .boolean()
      .meta({ description: "Whether the limit at the provider is removed when the budget is deleted." }),
    created_at: instant,
    created_by: z.string().nullable().meta({ description: "The address of who linked it." }),
  })
  .meta({ id: "ProviderLimit" });
export type ProviderLimit = z.output<typeof providerLimit>;

export const providerLimitList = z
  .object({
    limits: z.array(providerLimit),
    can_edit: z.boolean().meta({ description: "Whether you may link, write and remove them." }),
  })
  .meta({ id: "ProviderLimitList" });
export type ProviderLimitList = z.output<typeof providerLimitList>;

/** An id or a name as a provider has it. */
const givenText = z
  .string()
  .trim()
  .min(1, "is required")
  .max(255, "must have at most 255 characters")
  .refine((text) => text.isWellFormed() && !/\p{Cc}/u.test(text), "must not contain control characters");

export const linkProviderLimitRequest = z
  .strictObject({
    budget_id: uuid.toLowerCase().meta({ description: "A budget per day, week or month." }),
    account_id: uuid.toLowerCase().meta({ description: "A provider account, whose key sets the limit." }),
    kind,
    target_id: givenText
      // Part of a path of the provider, where "." and ".." would name another thing.
      .refine((id) => !/^\.+$/.test(id), "must be an id")
      .meta({
        description:
          "The provider's id of what is limited, as its list has it: of a project, a workspace, a key (its hash) or a member (of Cursor the e-mail address, of GitHub the login); of an organization any.",
      }),
    target_name: givenText.optional().meta({
      description:
        "Its name, as the list has it: what the limit is called until the provider's own name was read.",
    }),
    removes_limit: z.boolean().default(true).meta({
      description: "Whether the limit at the provider is removed when the budget is deleted.",
    }),
  })
  .meta({ id: "LinkProviderLimitRequest" });
export type LinkProviderLimitRequest = z.output<typeof linkProviderLimitRequest>;

export const resolveProviderLimitRequest = z
  .strictObject({
    action: z.enum(["check", "write", "accept"]).meta({
      description:
        "`check`: reads what the provider holds. `write`: writes the budget's limit again. `accept`: gives the budget the limit that the provider holds.",
    }),
  })
  .meta({ id: "ResolveProviderLimitRequest" });

export const unlinkProviderLimitQuery = z.strictObject({
  limit: z.enum(["remove", "keep"]).default("keep").meta({
    description: "`remove`: also removes the limit at the provider. `keep`: leaves it there as it is.",
  }),
});

export const limitTargetList = z
  .object({
    targets: z
      .array(
        z.object({
          kind,
          id: z.string().meta({ description: "The provider's id, for `target_id`." }),
          name: z.string(),
          held: held.nullable().meta({ description: "Null where the list does not say." }),
          is_proposed: z
            .boolean()
            .meta({ description: "Whether it has the name of the budget, or of what the budget is of." }),
          is_linked: z.boolean().meta({ description: "Whether a budget of this period limits it already." }),
        }),
      )
      .meta({ description: "What can be limited for the budget's period, the proposed first." }),
    problem: z
      .string()
      .nullable()
      .meta({ description: "Why the provider could not be asked, in its own words." }),
  })
  .meta({ id: "LimitTargetList" });
export type LimitTargetList = z.output<typeof limitTargetList>;

export const limitTargetQuery = z.strictObject({
  budget_id: uuid.toLowerCase().meta({ description: "The budget that is to be linked." }),
});

export const providerLimitParams = z.strictObject({ slug: workspaceSlug, id: uuid });
