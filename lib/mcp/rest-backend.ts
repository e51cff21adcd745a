import { setTimeout as wait } from "node:timers/promises";
import type { IngestResult } from "@/lib/contract/ledger/ingest-result";
import type { AskForBudget, KeyBudgetRequest } from "@/lib/contract/spend/budget-requests";
import type { SpendAnswer } from "@/lib/contract/spend/spend-query";
import { ExactNumber } from "@/lib/contract/values/exact-number";
import { type ErrorCode, ServiceError, statusOf } from "@/lib/errors";
import { parseJson, writeJson } from "@/lib/http/json";
import type { Backend } from "./backend";
import { checkBudgetWith } from "./check-budget";

/** Where the service is, and the API key to call it with. */
export type RestAccess = { baseUrl: string; apiKey: string };

/** How often a call is tried. Its idempotency key makes it safe to try again. */
const attempts = 3;
const firstPauseMs = 250;
const timeoutMs = 20_000;

type Answer = { body: unknown; headers: Headers };

/** A backend that calls the REST API, which checks the key's permissions, limits and rate. */
export function restBackend(access: RestAccess): Backend {
  const read = async <Body>(path: string) => (await call(access, "GET", path)).body as Body;
  return {
    record: async (recording) => {
      const { body, headers } = await call(access, "POST", "/api/v1/messages", {
        ...recording,
        source: "mcp",
      });
      return { result: body as IngestResult, replayed: headers.get("idempotent-replayed") === "true" };
    },
    readProjectSpend: (slug, { from, to, sort }) => {
      const query = new URLSearchParams({
        ...(from && { from }),
        ...(to && { to }),
        ...(sort !== "-time" && { sort }),
      });
      return read(`/api/v1/projects/${encodeURIComponent(slug)}/spend${query.size > 0 ? `?${query}` : ""}`);
    },
    querySpend: async (query) =>
      (await call(access, "POST", "/api/v1/spend/query", query)).body as SpendAnswer,
    readBudgetStatus: () => read("/api/v1/budgets/status"),
    checkBudget: (asked) =>
      checkBudgetWith(asked, {
        readLimits: (of) => {
          const given = Object.entries(of).filter(([, value]) => value !== undefined);
          return read(`/api/v1/limits?${new URLSearchParams(given as [string, string][])}`);
        },
        tryRecording: async (recording) => {
          const { body } = await call(access, "POST", "/api/v1/messages?dry_run=true", {
            ...recording,
            source: "mcp",
          });
          return { result: body as IngestResult, replayed: false };
        },
      }),
    requestBudget: async (request) =>
      (await call(access, "POST", "/api/v1/budget-requests", toWire(request))).body as KeyBudgetRequest,
    readMonthSummary: () => read("/api/v1/summary/month"),
    readClosedMonths: () => read("/api/v1/closed-months"),
    readReconciliation: (month) => read(`/api/v1/reconciliation${month ? `?month=${month}` : ""}`),
    listRecommendations: () => read("/api/v1/recommendations"),
    alerts: null,
  };
}

/** Converts amounts to JSON numbers with all their digits, as the API expects them. */
function toWire({ amount, percent, ...request }: AskForBudget) {
  return {
    ...request,
    ...(amount !== undefined && { amount: new ExactNumber(amount) }),
    ...(percent !== undefined && { percent: new ExactNumber(percent) }),
  };
}

/** @throws ServiceError as the service answered, or `unavailable` if the service cannot be reached */
async function call(access: RestAccess, method: string, path: string, body?: unknown): Promise<Answer> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await callOnce(access, method, path, body);
    } catch (error) {
      const isPassing = error instanceof ServiceError && error.code === "unavailable";
      if (!isPassing || attempt === attempts) throw error;
      await wait(firstPauseMs * 2 ** (attempt - 1));
    }
  }
}

async function callOnce(
  { baseUrl, apiKey }: RestAccess,
  method: string,
  path: string,
  body: unknown,
): Promise<Answer> {
  const answered = await fetch(baseUrl + path, {
    method,
    headers: {
      authorization: `Bearer ${apiKey}`,
      ...(body !== undefined && { "content-type": "application/json" }),
    },
    ...(body !== undefined && { body: writeJson(body) }),
    redirect: "error",
    signal: AbortSignal.timeout(timeoutMs),
  })
    .then(async (response) => ({ response, text: await response.text() }))
    .catch((cause: unknown) => {
      throw unreachable(baseUrl, cause);
    });
  const parsed = parseAnswer(answered.text, baseUrl, answered.response.status);
  if (answered.response.ok) return { body: parsed, headers: answered.response.headers };
  throw refusalOf(parsed);
}

function unreachable(baseUrl: string, cause: unknown): ServiceError {
  const reason = cause instanceof Error && cause.cause instanceof Error ? cause.cause : cause;
  const why = reason instanceof Error ? reason.message : String(reason);
  return new ServiceError(
    "unavailable",
    `Outlay cannot be reached at ${baseUrl} (${why}). Check SVC_BASE_URL, and whether the service runs.`,
  );
}

function parseAnswer(text: string, baseUrl: string, status: number): unknown {
  try {
    return parseJson(text);
  } catch {
    throw new ServiceError(
      status >= 500 ? "unavailable" : "not_found",
      `${baseUrl} answered ${status} with something that Outlay does not send. Check SVC_BASE_URL: it is the service's address, without a path.`,
    );
  }
}

/** Converts the body of an error response back to its ServiceError. */
function refusalOf(body: unknown): ServiceError {
  const { error, error_description, ...fields } = body as Record<string, unknown>;
  const code =
    typeof error === "string" && Object.hasOwn(statusOf, error) ? (error as ErrorCode) : "internal_error";
  return new ServiceError(
    code,
    String(error_description ?? "The service refused the call without a reason."),
    fields,
  );
}
