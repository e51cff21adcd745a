import { z } from "zod";
import { recordedMessage } from "@/lib/contract/ledger/ingest-result";

/** The outcome of a delivery of a gateway's webhook: a verdict for each call of a model in it. */
export const deliveryResult = z
  .object({
    recorded: z
      .int()
      .meta({ description: "Calls with status 201, those that were recorded before included." }),
    refused: z.int(),
    ignored: z.int().meta({ description: "Calls without usage, such as failed ones." }),
    results: z.array(
      z.union([
        recordedMessage,
        z.object({ index: z.int(), status: z.int(), ignored: z.string() }),
        z.looseObject({ index: z.int(), status: z.int(), error: z.string(), error_description: z.string() }),
      ]),
    ),
  })
  .meta({ id: "DeliveryResult" });
export type DeliveryResult = z.output<typeof deliveryResult>;

/** A call in a delivery, for the API document only. The gateway's adapter parses it. */
const liteLlmCall = z.looseObject({}).meta({ id: "LiteLlmCall", description: "A StandardLoggingPayload." });
export const liteLlmDelivery = z.union([liteLlmCall, z.array(liteLlmCall)]).meta({
  id: "LiteLlmDelivery",
  description:
    "A StandardLoggingPayload, or a list of them. With newlines between them: the format `ndjson`.",
});
export const openRouterDelivery = z
  .looseObject({ resourceSpans: z.array(z.looseObject({})).optional() })
  .meta({ id: "OpenRouterDelivery", description: "An OTLP export of traces in JSON." });
export const heliconeDelivery = z
  .looseObject({ request_id: z.string() })
  .meta({ id: "HeliconeDelivery", description: "The body that Helicone signed." });

/** The query of a signed webhook's address: the id of the API key that records what it delivers. The id is not a secret. */
export const signedQuery = z.strictObject({
  key_id: z.uuid("must be the id of an API key").meta({ description: "The id of the API key that records." }),
});

export const signingSecret = z
  .strictObject({
    secret: z
      .string()
      .min(16, "must have at least 16 characters")
      .max(256, "must have at most 256 characters")
      .regex(/^[\x21-\x7e]+$/, "must be printable ASCII without spaces")
      .meta({ description: "The key that the gateway signs with. It is never shown again." }),
  })
  .meta({ id: "SigningSecret" });

export const signedWebhook = z
  .object({ url: z.string().meta({ description: "The address to give to the gateway." }) })
  .meta({ id: "SignedWebhook" });
