import { type IngestRequest, ingestRequest } from "@/lib/contract/ledger/message";
import type { ExactNumber } from "@/lib/contract/values/exact-number";
import { firstInstantMs, lastInstantMs } from "@/lib/contract/values/fields";
import { parsePart } from "@/lib/contract/values/parse-part";
import { ServiceError, type Verdict, validationFailed } from "@/lib/errors";

/**
 * A usage that an emitter reported, in the form in which a client would send it, in two parts: `about`, the fields that many calls of an
 * export share, and `counts`, the fields that differ from call to call.
 */
export type ReportedMessage = {
  project: string;
  source: "api";
  about: Record<string, unknown>;
  counts: {
    occurred_at: string | undefined;
    request_input_tokens: ExactNumber | undefined;
    lines: { unit_type: string; quantity: ExactNumber; estimated_cost?: ExactNumber }[];
  };
};

type Usage = Extract<IngestRequest["message"], { type: "usage" }>;

/** Parses and validates a message by the contract. */
export function parseMessage(value: unknown): Verdict<IngestRequest> {
  const read = parsePart(ingestRequest, value);
  return read.ok ? read.value : validationFailed(read.issues);
}

/**
 * Parses and validates the messages of one export by the contract. `about` is validated once for all messages that share it. Counts are
 * usually whole numbers, and times are written by this service, so that a check of their text is enough; other values are validated by
 * the contract.
 * @returns the parsed messages in order; the same as `parseMessage` returns for each
 */
export function parseReported(messages: readonly ReportedMessage[]): Verdict<IngestRequest>[] {
  const validated = new Map<string, { project: string; about: Partial<Usage> }>();
  return messages.map((message) => {
    const { project, source, about, counts } = message;
    if (!isPlain(counts)) return parseMessage(whole(message));
    const name = JSON.stringify([project, about, counts.lines.map(({ unit_type: unit }) => unit)]);
    const known = validated.get(name);
    if (known) {
      return { project: known.project, source, message: withCounts(counts, known.about) };
    }
    const parsed = parseMessage(whole(message));
    if (parsed instanceof ServiceError) return parsed;
    const { occurred_at: _, request_input_tokens: __, lines: ___, ...rest } = parsed.message as Usage;
    validated.set(name, { project: parsed.project, about: rest });
    return parsed;
  });
}

function whole({ project, source, about, counts }: ReportedMessage) {
  return { project, source, message: { ...about, ...counts } };
}

/** A usage as the contract's parser returns it. The spread is last for speed; see `rowOf` in `ledger.ts`. */
function withCounts(
  { occurred_at, request_input_tokens, lines }: ReportedMessage["counts"],
  about: Partial<Usage>,
): Usage {
  return {
    occurred_at,
    request_input_tokens: request_input_tokens?.text,
    lines: lines.map(({ unit_type, quantity }) => ({ unit_type, quantity: quantity.text })),
    ...about,
  } as Usage;
}

/** Whether every count and the time have a form that is known to be valid. */
function isPlain({
  occurred_at: at,
  request_input_tokens: input,
  lines,
}: ReportedMessage["counts"]): boolean {
  if (at !== undefined && !isPlainInstant(at)) return false;
  if (input !== undefined && !wholeNumber.test(input.text)) return false;
  return lines.every(
    ({ quantity, estimated_cost }) => estimated_cost === undefined && wholeNumber.test(quantity.text),
  );
}

/** Whole numbers from 1 to below 1e15, which `positiveDecimal` accepts and returns unchanged. */
const wholeNumber = /^[1-9]\d{0,14}$/;

/** Whether a text is an instant that the contract accepts, as `Date.prototype.toISOString` writes it. */
function isPlainInstant(text: string): boolean {
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(text)) return false;
  const ms = Date.parse(text);
  return ms >= firstInstantMs && ms <= lastInstantMs && new Date(ms).toISOString() === text;
}
