import { ArrivedOutput } from "./arrived-output.js";
import type { CallOptions } from "./call-options.js";
import { type ReservedCall, reserveCall } from "./enforce.js";
import type { AskedCall } from "./estimate.js";
import type { Outlay } from "./outlay.js";
import { type ModelCall, recordCall } from "./record-call.js";
import { recordCutCall } from "./record-cut-call.js";

/** Reads what a provider's answer says about usage. */
export type AnswerReader = {
  /** Takes the body of an answer that is one JSON value, or the data of the next event. */
  read(data: unknown): void;
  /**
   * The call as far as it is known, or undefined where nothing is.
   * @param isCut whether the caller stopped before the end
   */
  call(isCut: boolean): ModelCall | undefined;
  /** Whether the answer is complete although the body may go on. */
  isComplete(): boolean;
  /** The text of an event for the caller, who has not asked for all of it; empty for none. Absent: as it came. */
  rewrite?(event: string, data: unknown): string;
  /** The id of a background response that is not complete yet and is fetched later. */
  unfinishedId?(): string | undefined;
};

/**
 * A request that is recorded: the reader of its answer, its replaced body if it needs one, and the call that it makes, if it makes one.
 * `fetchedId`: the id of the background response that it fetches.
 */
export type Recognised = { reader: AnswerReader; body?: string; asked?: AskedCall; fetchedId?: string };

/** Finds out whether a request is a call of a model. `body`: its parsed JSON, if it has any. */
export type Recognise = (request: { url: URL; method: string; body: unknown }) => Recognised | undefined;

type PlatformFetch = typeof globalThis.fetch;

/** The functions that record, with those they wrap. */
const originals = new WeakMap<PlatformFetch, PlatformFetch>();

/** An SDK's client. All of its requests go through `fetch`, and `withOptions` makes a copy of it with other settings. */
type SdkClient = { fetch?: PlatformFetch; withOptions?(options: { fetch: PlatformFetch }): unknown };

/**
 * A copy of an SDK's client whose calls are recorded. A client that records already is given other options instead.
 * @throws TypeError where it is no client, or one of a version without `withOptions`
 */
export function wrapClient<Client extends object>(
  client: Client,
  outlay: Outlay,
  options: CallOptions,
  recognise: Recognise,
): Client {
  const { fetch = globalThis.fetch } = client as SdkClient;
  const original = originals.get(fetch) ?? fetch;
  const recording = recordingFetch(original, outlay, options, recognise);
  originals.set(recording, original);
  const copy = (client as SdkClient).withOptions?.({ fetch: recording });
  if (!copy) throw new TypeError("This client has no `withOptions`: update its SDK.");
  return copy as Client;
}

/** The reservations of background responses that are not complete, by the response's id. The oldest are dropped and expire. */
const unfinished = new Map<string, ReservedCall>();
const maxUnfinished = 1000;

function keepUnfinished(id: string, reservation: ReservedCall): void {
  unfinished.delete(id);
  unfinished.set(id, reservation);
  const [oldest] = unfinished.keys();
  if (unfinished.size > maxUnfinished && oldest !== undefined) unfinished.delete(oldest);
}

/**
 * Wraps `fetch` to record calls of models and, if limits are enforced, to reserve before each call. Requests, responses and errors are
 * those of the original `fetch`.
 */
function recordingFetch(
  original: PlatformFetch,
  outlay: Outlay,
  options: CallOptions,
  recognise: Recognise,
): PlatformFetch {
  return async (input, init) => {
    const recognised = attempt(() =>
      recognise({
        url: new URL(input instanceof Request ? input.url : input),
        method: init?.method?.toUpperCase() ?? "GET",
        body: typeof init?.body === "string" ? JSON.parse(init.body) : undefined,
      }),
    );
    if (!recognised) return original.call(undefined, input, init);
    const { reader, body = init?.body ?? null, asked, fetchedId = "" } = recognised;
    let reservation = unfinished.get(fetchedId);
    try {
      if (asked) reservation = await reserveCall(outlay, asked, options);
    } catch (error) {
      return refusedResponse(error);
    }
    const arrived = new ArrivedOutput();
    const end = (how: Ending) => {
      const id = how === "complete" ? attempt(() => reader.unfinishedId?.()) : undefined;
      if (id && reservation) return keepUnfinished(id, reservation);
      const call = how === "failed" ? undefined : attempt(() => reader.call(how === "cut"));
      const isRecorded = call && attempt(() => recordCall(outlay, call, options, reservation?.id));
      // The caller fetches it again after an error.
      if (!reservation || (!asked && how !== "complete")) return;
      unfinished.delete(fetchedId);
      if (isRecorded) return;
      const cut = how === "complete" ? undefined : reservation;
      if (cut && attempt(() => recordCutCall(outlay, cut, arrived, options))) return;
      void outlay.release(reservation.id);
    };
    try {
      const response = await original.call(undefined, input, { ...init, body });
      return observe(response, counting(reader, arrived), end, init?.signal ?? undefined);
    } catch (error) {
      end("failed");
      throw error;
    }
  };
}

/** The same reader, which also counts the output that arrives. */
const counting = (reader: AnswerReader, arrived: ArrivedOutput): AnswerReader => ({
  ...reader,
  read(data) {
    attempt(() => arrived.add(data));
    reader.read(data);
  },
});

/**
 * A response for a call that is not made. SDKs treat an error of `fetch` as a broken connection and retry; an error while they read the
 * response reaches the caller unchanged.
 */
function refusedResponse(error: unknown): Response {
  const response = new Response(null, { status: 402 });
  const get = () => {
    throw error;
  };
  for (const name of ["headers", "ok", "status", "body"]) Object.defineProperty(response, name, { get });
  return response;
}

/** How a response ended: complete, stopped by the caller, or with an error. */
type Ending = "complete" | "cut" | "failed";

/**
 * The same response, whose body is read by `reader` as it passes. Records before the caller sees the end.
 * @param end called once, unless nobody reads the body
 */
function observe(
  response: Response,
  reader: AnswerReader,
  end: (how: Ending) => void,
  signal: AbortSignal | undefined,
): Response {
  const type = response.headers.get("content-type") ?? "";
  const passOn = /event-stream/.test(type)
    ? readEvents(reader)
    : /json/.test(type)
      ? readJson(reader)
      : undefined;
  const source =
    response.ok && typeof response.body?.getReader === "function" ? response.body.getReader() : undefined;
  if (!passOn || !source) {
    end("failed");
    return response;
  }
  let hasEnded = false;
  const finish = (how: Ending) => {
    if (!hasEnded) end(how);
    hasEnded = true;
    signal?.removeEventListener("abort", stop);
  };
  // The caller may stop without reading on.
  const stop = () => finish("cut");
  signal?.addEventListener("abort", stop);
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          for (;;) {
            const { done, value } = await source.read();
            const bytes = passOn(value);
            if (done || reader.isComplete()) finish("complete");
            if (bytes.length > 0) controller.enqueue(bytes);
            if (done) return controller.close();
            if (bytes.length > 0) return;
          }
        } catch (error) {
          // An answer that broke off by itself is a failed call, of which nothing is recorded.
          finish(signal?.aborted ? "cut" : "failed");
          controller.error(error);
        }
      },
      cancel(reason) {
        finish("cut");
        return source.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
  const { status, statusText, headers } = response;
  const copy = new Response(body, { status, statusText, headers });
  for (const name of ["url", "redirected", "type"] as const)
    Object.defineProperty(copy, name, { value: response[name] });
  return copy;
}

/** Takes the next bytes of a body, undefined at its end. @returns the bytes for the caller */
type PassOn = (bytes: Uint8Array | undefined) => Uint8Array;

const nothing = new Uint8Array();

function readJson(reader: AnswerReader): PassOn {
  const decoder = new TextDecoder();
  let text = "";
  return (bytes) => {
    text += decoder.decode(bytes, { stream: bytes !== undefined });
    if (!bytes) attempt(() => reader.read(JSON.parse(text)));
    return bytes ?? nothing;
  };
}

function readEvents(reader: AnswerReader): PassOn {
  const decoder = new TextDecoder();
  const encoder = new TextEncoder();
  const splitter = new EventSplitter();
  return (bytes) => {
    const events = splitter.push(decoder.decode(bytes, { stream: bytes !== undefined }));
    if (!bytes) events.push(splitter.end());
    const passed = events.map((event) => {
      const data = readData(event);
      if (data !== undefined) attempt(() => reader.read(data));
      return reader.rewrite && data !== undefined
        ? (attempt(() => reader.rewrite?.(event, data)) ?? event)
        : event;
    });
    return reader.rewrite ? encoder.encode(passed.join("")) : (bytes ?? nothing);
  };
}

/** What goes wrong in recording must not reach the caller, whose call has succeeded. */
function attempt<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}

/** Splits a stream of server-sent events (WHATWG HTML, 9.2.6) into events, each with the blank line that ends it. */
class EventSplitter {
  #rest = "";

  /** Takes the next part of the text. @returns the events that are complete */
  push(text: string): string[] {
    this.#rest += text;
    const events: string[] = [];
    for (;;) {
      const end = /\r\n\r\n|\n\n|\r\r/.exec(this.#rest);
      if (!end) return events;
      const length = end.index + end[0].length;
      events.push(this.#rest.slice(0, length));
      this.#rest = this.#rest.slice(length);
    }
  }

  /** What came after the last complete event. */
  end(): string {
    const rest = this.#rest;
    this.#rest = "";
    return rest;
  }
}

/** The JSON of an event's data; undefined where it has none, or other text such as `[DONE]`. */
function readData(event: string): unknown {
  const data = event
    .split(/\r\n|\n|\r/)
    .filter((line) => line.startsWith("data:"))
    .map((line) => line.slice("data:".length))
    .join("\n");
  try {
    return JSON.parse(data);
  } catch {
    return undefined;
  }
}
