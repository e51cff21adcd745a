import { z } from "zod";
import { workspaceSlug } from "@/lib/contract/access/workspace";
import { day, decimalNumber, instant, uuid } from "@/lib/contract/values/fields";
import { destinationEnd, providerTelemetry } from "./provider-telemetry";
import { accountOf, folderOf, type PulledProvider, pulledProviders } from "./pulled-providers";

/** The states of a provider account. */
export const accountStates = ["never_ran", "no_data", "healthy", "held", "refused", "behind"] as const;
export type AccountState = (typeof accountStates)[number];

const provider = z
  .enum(Object.keys(pulledProviders) as [PulledProvider, ...PulledProvider[]])
  .meta({ description: "The provider." });

export const providerAccount = z
  .object({
    id: uuid,
    provider,
    account: z.string().nullable().meta({ description: "Its name, where there are several of a provider." }),
    folder: z.string().nullable().meta({
      description: "The address of the folder with exports, of the clouds; null of other providers.",
    }),
    since: day.meta({ description: "The first day that is pulled (UTC)." }),
    state: z.enum(accountStates).meta({
      description:
        "`never_ran`: no pull has ended yet. `no_data`: the provider has billed nothing yet. `healthy`. `held`: a day was billed at twenty times the usual amount, and is not stored until an admin accepts it. `refused`: the provider refused the last pull. `behind`: the last pull failed, or none has succeeded for two days.",
    }),
    problem: z
      .string()
      .nullable()
      .meta({ description: "Why the last pull was refused or failed, in the provider's own words." }),
    held: z
      .object({
        day,
        amount_usd: decimalNumber("What is billed of the day, USD."),
        usual_usd: decimalNumber("The mean of the days with costs in the four weeks before, USD."),
      })
      .nullable()
      .meta({ description: "The first day that is held." }),
    seats: z
      .object({
        count: z.int().meta({ description: "Seats that are billed." }),
        unused_count: z.int().meta({ description: "Seats that nobody used for 30 days." }),
        monthly_usd: decimalNumber("What a seat costs a month, USD.").nullable(),
        unused_monthly_usd: decimalNumber("What the unused ones cost a month, USD.").nullable(),
      })
      .nullable()
      .meta({ description: "The seats, of Cursor and GitHub; null where they were not counted." }),
    telemetry: providerTelemetry.nullable().meta({
      description:
        "Whether the provider sends its calls here, of Anthropic and OpenRouter; null of others, which do not send to an address.",
    }),
    is_pulling: z.boolean().meta({ description: "Whether a pull runs, or is about to." }),
    pulled_through: day.nullable().meta({ description: "The last day that was read (UTC)." }),
    stored_through: day.nullable().meta({
      description:
        "The last day that is stored of a pull that goes on, such as the first one, which may read a year; null between pulls.",
    }),
    last_pull_at: instant.nullable(),
    last_success_at: instant.nullable(),
    created_at: instant,
    created_by: z.string().nullable().meta({ description: "The address of who added it." }),
  })
  .meta({ id: "ProviderAccount" });
export type ProviderAccount = z.output<typeof providerAccount>;

export const providerAccountList = z
  .object({
    accounts: z.array(providerAccount),
    can_add: z.boolean().meta({
      description:
        "Whether the service has a key that seals (`SEALING_KEYS`), without which it keeps no keys of providers.",
    }),
  })
  .meta({ id: "ProviderAccountList" });
export type ProviderAccountList = z.output<typeof providerAccountList>;

/** Whether an address names a bucket or a container. The service checks its host when it connects. */
function isFolder(address: string, store: "s3" | "azure"): boolean {
  const url = URL.parse(address);
  if (!url || !/^https?:$/.test(url.protocol) || url.search || url.hash || url.username) return false;
  const isInHost = store === "s3" && /^.+\.s3[.-].*amazonaws\.com$/.test(url.hostname);
  return isInHost || url.pathname.split("/").some(Boolean);
}

export const addProviderAccountRequest = z
  .strictObject({
    provider,
    key: z
      .string({ error: (issue) => (issue.input === undefined ? "is required" : "must be text") })
      .trim()
      .min(1, "is required")
      .max(1000, "must have at most 1000 characters")
      .regex(
        /^[\x21-\x7e]+$/,
        "must be a key as the provider shows it: no spaces, no other letters than of ASCII",
      )
      .meta({
        description:
          "The key that reads the costs of the organization: an admin key of OpenAI (`sk-admin-…`) or Anthropic (`sk-ant-admin…`), a management key of OpenRouter, an admin API key of Cursor (`crsr_…`), a token of GitHub (`github_pat_…`). It is sealed, and no answer ever has it.",
      }),
    account: z
      .string()
      .trim()
      .max(128, "must have at most 128 characters")
      .refine(
        (value) => value.isWellFormed() && !/\p{Cc}/u.test(value),
        "must not contain control characters or broken Unicode",
      )
      .default("")
      .meta({
        description:
          "A name for the account. Needed where there are several of a provider. Of GitHub, it is the name of the organization, as in its address.",
      }),
    folder: z.string().trim().max(500, "must have at most 500 characters").optional().meta({
      description:
        "Of `aws`, `azure` and `google`: the address of the folder with exports, with the store, the bucket or container, and the path, such as `https://s3.eu-central-1.amazonaws.com/bucket/exports`. FOCUS and CUR 2.0 are read, CSV and Parquet. Its host must be public, or be allowed by `BUCKET_HOSTS`.",
    }),
    since: day.optional().meta({
      description:
        "The first day to pull (UTC), at most a year ago. Without it, a year ago, or as far back as the provider reports.",
    }),
  })
  .superRefine(({ provider: of, account, folder }, context) => {
    const expected = folderOf(of);
    if (expected ? folder === undefined || !isFolder(folder, expected.store) : folder !== undefined)
      context.addIssue({
        code: "custom",
        path: ["folder"],
        message: expected
          ? `must be the address of a bucket and a folder, such as ${expected.example}`
          : "is of clouds alone: leave it out",
      });
    if (accountOf(of) !== undefined && !/^[a-z\d](?:[a-z\d-]{0,98}[a-z\d])?$/i.test(account))
      context.addIssue({
        code: "custom",
        path: ["account"],
        message: `must name the organization at ${pulledProviders[of].label}, as in its address: letters, digits and hyphens`,
      });
  })
  .meta({ id: "AddProviderAccountRequest" });
export type AddProviderAccountRequest = z.output<typeof addProviderAccountRequest>;

export const pullRequest = z
  .strictObject({
    accept_jump: z
      .boolean()
      .default(false)
      .meta({ description: "Stores what is held, and whatever else this pull finds." }),
  })
  .meta({ id: "PullRequest" });

export const providerAccountParams = z.strictObject({ slug: workspaceSlug, id: uuid });

export const removeProviderAccountQuery = z.strictObject({
  bills: z.enum(["keep", "delete"]).default("keep").meta({
    description:
      "What becomes of what it billed: `keep`, as bills that can be deleted, or `delete`, with billed history and differences of these days.",
  }),
  destination: destinationEnd,
});
