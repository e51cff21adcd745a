import type { PulledProvider } from "@/lib/contract/bills/pulled-providers";
import { anthropic } from "./anthropic";
import { cursor } from "./cursor";
import { github } from "./github";
import { openai } from "./openai";
import { openrouter } from "./openrouter";
import type { BucketProvider, Provider } from "./provider";

/** Clouds change a month until it is invoiced, some days after its end. */
const bucketDays = 40;

/** The providers whose costs are pulled, by the names that statements have. */
export const providers = {
  openai,
  anthropic,
  openrouter,
  cursor,
  github,
  aws: { store: "s3" as const, changingDays: bucketDays },
  azure: { store: "azure" as const, changingDays: bucketDays },
  google: { store: "s3" as const, changingDays: bucketDays },
} satisfies Readonly<Record<PulledProvider, Provider | BucketProvider>>;
