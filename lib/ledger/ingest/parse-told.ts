import { type IngestRequest, ingestRequest } from "@/lib/contract/ledger/message";
import type { ExactNumber } from "@/lib/contract/values/exact-number";
import { firstInstantMs, lastInstantMs } from "@/lib/contract/values/fields";
import { parsePart } from "@/lib/contract/values/parse-part";
import { ServiceError, type Verdict, validationFailed } from "@/lib/errors";

/**
 * A usage that an emitter told, as a client would send it, in two parts: `about`, what it was for, which calls of one export
 * share, and `counts`, what each has of its own.
 */
export type ToldMessage = {
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

/** Parses what anybody sends by the contract. */
export function parseMessage(value: unknown): Verdict<IngestRequest> {
  const read = parsePart(ingestRequest, value);
  return read.ok ? read.value : validationFailed(read.issues);
}

/**
 * Parses the messages of one export by the contract. What they are about is validated once for all messages that share it.
 * Counts are whole numbers and times were written by this service, so that a look at their text is enough; any other is
 * validated by the contract.
 * @returns the parsed messages in order; the same as `parseMessage` returns for each
 */
export function parseTold(messages: readonly ToldMessage[]): Verdict<IngestRequest>[] {
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

function whole({ project, source, about, counts }: ToldMessage) {
  return { project, source, message: { ...about, ...counts } };
}

/** Counts as the contract's parser returns them. Spreads last, as `rowOf` in `group.ts` does and says why. */
function withCounts(
  { occurred_at, request_input_tokens, lines }: ToldMessage["counts"],
  about: Partial<Usage>,
): Usage {
  return {
    occurred_at,
    request_input_tokens: request_input_tokens?.text,
    lines: lines.map(({ unit_type, quantity }) => ({ unit_type, quantity: quantity.text })),
    ...about,
  } as Usage;
}

/** Whether every count and the time are of the form that is valid without a further look. */
function isPlain({ occurred_at: at, request_input_tokens: input, lines }: ToldMessage["counts"]): boolean {
  if (at !== undefined && !isPlainInstant(at)) return false;
  if (input !== undefined && !wholeNumber.test(input.text)) return false;
  return lines.every(
    ({ quantity, estimated_cost }) => estimated_cost === undefined && wholeNumber.test(quantity.text),
  );
}

/** Whole numbers from 1 to below 1e15: what `positiveDecimal` accepts and returns as they are. */
const wholeNumber = /^[1-9]\d{0,14}$/;

/** What `Date.prototype.toISOString` writes for an instant that the contract accepts. */
function isPlainInstant(text: string): boolean {
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(text)) return false;
  const ms = Date.parse(text);
  return ms >= firstInstantMs && ms <= lastInstantMs && new Date(ms).toISOString() === text;
}
