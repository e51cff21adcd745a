import type { z } from "zod";
import { ExactNumber } from "@/lib/contract/exact-number";

type Issue = { path: string; message: string };

/** A refusal of the API, as it explains itself. The message is for people. */
export class ApiError extends Error {
  override name = "ApiError";
  constructor(
    /** 0 where the service could not be reached. */
    readonly status: number,
    readonly code: string,
    message: string,
    readonly issues: Issue[],
    /** Everything it said, fields of its code included. */
    readonly body: Record<string, unknown>,
  ) {
    super(message);
  }

  /** What is wrong with each field of the body, by its path (`conditions.features[0]`). */
  get fieldErrors(): Record<string, string> {
    return Object.fromEntries(this.issues.map(({ path, message }) => [path, message]));
  }
}

/**
 * Calls the API as the signed-in user, on the session's cookie. The schemas are types alone, so that zod stays out of
 * the browser: `callApi<typeof membership, typeof createWorkspaceRequest>("POST", "/api/v1/workspaces", { name })`.
 * Numbers with more digits than a double holds arrive, and are sent, as ExactNumber.
 * @throws ApiError for every refusal, and with status 0 where there was no answer
 */
export async function callApi<Answer extends z.ZodType, Body extends z.ZodType = z.ZodType>(
  method: "GET" | "POST" | "PATCH" | "PUT" | "DELETE",
  path: string,
  body?: z.input<Body>,
  signal?: AbortSignal,
): Promise<z.output<Answer>> {
  let response: Response;
  try {
    response = await fetch(path, {
      method,
      ...(body !== undefined && {
        body: JSON.stringify(body, writeExactly),
        headers: { "Content-Type": "application/json" },
      }),
      ...(signal && { signal }),
    });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new ApiError(0, "unreachable", "The service could not be reached. Try again in a moment.", [], {});
  }
  const text = await response.text();
  if (response.ok) return (text === "" ? undefined : JSON.parse(text, readExactly)) as z.output<Answer>;
  throw refusalOf(response.status, text);
}

function refusalOf(status: number, text: string): ApiError {
  try {
    const said = JSON.parse(text);
    return new ApiError(status, said.error, said.error_description, said.issues ?? [], said);
  } catch {
    return new ApiError(status, "unavailable", "The service did not answer as it should. Try again.", [], {});
  }
}

/** The text of a number is a third argument in browsers since 2025; in older ones the double has to do. */
function readExactly(_: string, value: unknown, context?: { source?: string }): unknown {
  if (typeof value !== "number" || context?.source === undefined) return value;
  const significant = context.source.replace(/e.*$/i, "").replace(/[^\d]/g, "").replace(/^0+/, "").length;
  return significant > 15 ? new ExactNumber(context.source) : value;
}

function writeExactly(this: Record<string, unknown>, name: string, value: unknown): unknown {
  const original = this[name];
  const { rawJSON } = JSON as { rawJSON?: (text: string) => unknown };
  return original instanceof ExactNumber && rawJSON ? rawJSON(original.text) : value;
}
