import { createHmac, timingSafeEqual } from "node:crypto";
import type { z } from "zod";
import { deliveryResult, signedQuery } from "@/lib/contract/sources/delivery";
import { accepted, ServiceError } from "@/lib/errors";
import { readDecodedBytes } from "@/lib/http/body";
import { declaration, type Endpoint, type Handler } from "@/lib/http/define-route";
import { parseRequest } from "@/lib/http/parse-request";
import { errorResponse, jsonResponse, newRequestId, rateHeaders } from "@/lib/http/reply";
import { Turn } from "@/lib/http/turns";
import type { KeyLookup } from "@/lib/keys/api-key";
import { parseCredentials } from "@/lib/keys/credentials";
import { admitRead } from "@/lib/keys/guard";
import { findSigningSecret } from "@/lib/keys/signing-secrets";
import { callerAddress } from "@/lib/peer";
import { countRefusal } from "@/lib/sources/count-outcomes";
import { decode } from "@/lib/sources/decoder/thread";
import { passSpan } from "@/lib/tracing";
import { recordDelivery } from "./record-delivery";

/** The most bytes of a delivery, inflated: 8 MiB. LiteLLM sends prompts and answers with it. */
const deliveryLimitBytes = 8 * 1024 * 1024;

/** A webhook of a gateway: how its deliveries are authenticated and read, and its description in the API document. */
type Webhook = {
  summary: string;
  description: string;
  /** `bearer`: an API key in the Authorization header. `signed`: a signature, and the id of the API key in the query. */
  auth: "bearer" | "signed";
  body: z.ZodType;
  query?: z.ZodType;
  /** The form of its bodies. */
  form: "openrouter" | "litellm" | "helicone";
};

/**
 * The handler of a gateway's webhook. It does not use `defineRoute`, because gateways send bodies that are not JSON with the content type
 * of JSON, and sign the bytes. The request counts once against the key's rate. A key in the header is admitted before the body is read.
 */
export function receiveDelivery(webhook: Webhook): Handler {
  const receive: Handler = async (request, { peer }) => {
    const requestId = newRequestId();
    const headers: Record<string, string> = {};
    let sender: string | undefined;
    const admit = async (lookup: KeyLookup) => {
      const address = callerAddress(request, peer);
      passSpan(request, lookup);
      const { outcome, rate, keyId } = await admitRead({ lookup, address });
      Object.assign(headers, rateHeaders(rate));
      sender = keyId;
      return { key: accepted(outcome).key, lookup, address };
    };
    const turn = new Turn(request);
    const open = async () => {
      if (webhook.auth === "signed") {
        const { lookup, bytes } = await readSigned(request);
        return { exporter: await admit(lookup), bytes };
      }
      const exporter = await admit(parseCredentials(request.headers.get("authorization")));
      // Refuses unknown parameters, as every endpoint does.
      await parseRequest({}, request, Promise.resolve({}));
      const takeTurn = () => turn.take(exporter.key.workspaceId);
      return { exporter, bytes: await readDecodedBytes(request, deliveryLimitBytes, takeTurn) };
    };
    try {
      const { exporter, bytes } = await open();
      const decoded = await decode({ name: webhook.form, settings: exporter.key.source }, bytes);
      const result = await recordDelivery(exporter, decoded);
      return jsonResponse(result, 200, requestId, headers);
    } catch (error) {
      countRefusal(sender, error);
      return errorResponse(error, requestId, headers);
    } finally {
      turn.end();
    }
  };
  return Object.assign(receive, { [declaration]: endpointOf(webhook) });
}

function endpointOf({ summary, description, auth, body, query }: Webhook): Endpoint {
  return {
    auth: auth === "bearer" ? "ingest" : "none",
    ...(auth === "bearer" && { permission: "`log_usage`, for each call of a model." }),
    summary,
    description: `${description} Each call of a model becomes one \`usage\` message with a line for each kind of token, and is recorded once, however many programs report it. The answer is 200 with a verdict for each call: what a permission or condition of the key refuses would be refused again. Send a delivery again after 429 and 503. Counts as one request against the key's rate.`,
    body,
    ...(query && { query }),
    bodyLimitBytes: deliveryLimitBytes,
    response: deliveryResult,
    errors:
      auth === "bearer" ? ["unavailable"] : ["unavailable", "missing_credentials", "invalid_credentials"],
    answer: () => Promise.reject(new Error("A webhook answers by itself.")),
  };
}

/** The most bytes of a body whose signature is not verified yet. Helicone cuts the request and the answer to 10 KB each. */
const signedLimitBytes = 256 * 1024;

const signatureHeader = "helicone-signature";

/**
 * Reads a delivery that Helicone signed: the header has the HMAC-SHA256 of the body's bytes in hex. The query has the id of the API key
 * whose signing secret is used.
 * @throws ServiceError missing_credentials, invalid_credentials (the same for an unknown key and for a wrong signature),
 *   validation_failed, payload_too_large
 */
async function readSigned(request: Request): Promise<{ lookup: KeyLookup; bytes: Uint8Array }> {
  const { query } = await parseRequest({ query: signedQuery }, request, Promise.resolve({}));
  const signature = request.headers.get(signatureHeader);
  if (signature === null)
    throw new ServiceError(
      "missing_credentials",
      `Send the signature of the body in the header ${signatureHeader}.`,
    );
  if (!/^[0-9a-f]{64}$/i.test(signature)) throw invalidSignature();
  const kept = await findSigningSecret(query.key_id, "helicone");
  if (!kept) throw invalidSignature();
  const bytes = await readDecodedBytes(request, signedLimitBytes);
  const expected = createHmac("sha256", kept.secret).update(bytes).digest();
  if (!timingSafeEqual(expected, Buffer.from(signature, "hex"))) throw invalidSignature();
  return { lookup: kept.lookup, bytes };
}

function invalidSignature(): ServiceError {
  return new ServiceError(
    "invalid_credentials",
    "The signature does not match. Check key_id in the webhook's address, and whether the signing secret of that key was set (PUT /api/v1/sources/helicone/secret).",
  );
}
