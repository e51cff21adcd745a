import { Buffer } from "node:buffer";
import { accepted, ServiceError } from "@/lib/errors";
import { readDecodedBytes } from "@/lib/http/body";
import { answerMethods, type Handler, type RouteHandlers } from "@/lib/http/define-route";
import { parseRequest } from "@/lib/http/parse-request";
import { errorResponse, newRequestId, rateHeaders } from "@/lib/http/reply";
import { Turn } from "@/lib/http/turns";
import { parseCredentials } from "@/lib/keys/credentials";
import { admitRead } from "@/lib/keys/guard";
import { callerAddress } from "@/lib/peer";
import { countRefusal } from "@/lib/sources/count-outcomes";
import { isRecord } from "@/lib/sources/decoded";
import { decode } from "@/lib/sources/decoder/thread";
import { recordExport } from "@/lib/sources/record-export";
import { passSpan } from "@/lib/tracing";
import { contentTypes, encodeStatus, encodeSuccess } from "./answer";
import { documented } from "./documented";
import type { Signal } from "./entry";
import type { Encoding } from "./read-export";

/** The most bytes of a decompressed export: 8 MiB. */
export const exportLimitBytes = 8 * 1024 * 1024;

/**
 * The handlers of an OTLP/HTTP receiver (OTLP 1.11). They do not use `defineRoute`, because OTLP defines the encodings,
 * the answers and the errors. A key is admitted, and the export counted once against its rate, before the body is read.
 */
export function defineOtlpRoute(signal: Signal): RouteHandlers {
  const receive: Handler = async (request, { peer }) => {
    const requestId = newRequestId();
    const headers: Record<string, string> = {};
    let sender: string | undefined;
    const identified = (keyId: string | undefined) => {
      sender = keyId;
    };
    try {
      const body = await answer(signal, request, peer, headers, identified);
      return reply(body, 200, encodingOf(request), { "X-Request-Id": requestId, ...headers });
    } catch (error) {
      countRefusal(sender, error);
      return refuse(error, requestId, encodingOf(request), headers);
    }
  };
  return answerMethods({ POST: documented(receive, signal, exportLimitBytes) });
}

async function answer(
  signal: Signal,
  request: Request,
  peer: string | undefined,
  headers: Record<string, string>,
  identified: (keyId: string | undefined) => void,
): Promise<BodyInit> {
  const address = callerAddress(request, peer);
  const lookup = parseCredentials(asBearer(request.headers.get("authorization")));
  passSpan(request, lookup);
  const { outcome, rate, keyId } = await admitRead({ lookup, address });
  Object.assign(headers, rateHeaders(rate));
  identified(keyId);
  const { key } = accepted(outcome);
  const encoding = requireEncoding(request);
  // Refuses unknown parameters, as every endpoint does.
  await parseRequest({}, request, Promise.resolve({}));
  const turn = new Turn(request);
  try {
    const bytes = await readDecodedBytes(request, exportLimitBytes, () => turn.take(key.workspaceId));
    const form = { name: "otlp", signal, encoding, settings: key.source } as const;
    const { items, ...rest } = await decode(form, bytes);
    const records = items.filter(isRecord);
    await turn.record(key.workspaceId);
    const outcome = await recordExport({ key, lookup, address }, { records, ...rest });
    return encodeSuccess(signal, encoding, outcome);
  } finally {
    turn.end();
  }
}

/** Exporters that know only Basic send the key as the password: `Basic base64(anything:svc_live_…)`. */
function asBearer(authorization: string | null): string | null {
  const encoded = /^Basic +([A-Za-z0-9+/]+=*)$/i.exec(authorization ?? "")?.[1];
  if (encoded === undefined) return authorization;
  const text = Buffer.from(encoded, "base64").toString("utf8");
  return `Bearer ${text.slice(text.indexOf(":") + 1)}`;
}

/** The encoding of a request and of its answer; JSON for any other content type. */
function encodingOf(request: Request): Encoding {
  return mediaTypeOf(request) === contentTypes.protobuf ? "protobuf" : "json";
}

function mediaTypeOf({ headers }: Request): string | undefined {
  return headers.get("content-type")?.split(";", 1)[0]?.trim().toLowerCase();
}

/** @throws ServiceError unsupported_media_type */
function requireEncoding(request: Request): Encoding {
  const type = mediaTypeOf(request);
  if (type === contentTypes.protobuf) return "protobuf";
  if (type === contentTypes.json) return "json";
  throw new ServiceError(
    "unsupported_media_type",
    `Send an OTLP export as ${contentTypes.protobuf} or ${contentTypes.json}.`,
    {},
    { Accept: `${contentTypes.protobuf}, ${contentTypes.json}` },
  );
}

/**
 * Encodes an error by OTLP. Exporters repeat an export only after 429 and 503, when Retry-After says. After other errors they drop it,
 * which is right because it would be refused again.
 */
async function refuse(
  error: unknown,
  requestId: string,
  encoding: Encoding,
  headers: Record<string, string>,
): Promise<Response> {
  const plain = errorResponse(error, requestId, headers);
  const { error: code, error_description: description } = await plain.json();
  const sent = Object.fromEntries(plain.headers);
  if (plain.status === 503) sent["retry-after"] ??= "1";
  return reply(encodeStatus(encoding, plain.status, `${code}: ${description}`), plain.status, encoding, sent);
}

function reply(
  body: BodyInit,
  status: number,
  encoding: Encoding,
  headers: Record<string, string>,
): Response {
  const sent = new Headers(headers);
  sent.set("Content-Type", contentTypes[encoding]);
  sent.set("Cache-Control", "no-store");
  sent.set("X-Content-Type-Options", "nosniff");
  return new Response(body, { status, headers: sent });
}
