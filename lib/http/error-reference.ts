import type { JsonSchema } from "@/lib/contract/openapi";
import { type ErrorCode, statusOf } from "@/lib/errors";

/** The documentation of one error code. */
export type ErrorReference = {
  /** When it is sent, in one sentence. */
  when: string;
  /** An example of its `error_description`. */
  says: string;
  /** Members of the body that only this code has, each with an example. */
  fields?: Record<string, { schema: JsonSchema; example: unknown }>;
};

const usd = (description: string): JsonSchema => ({ type: "number", description });

/** How to ask for more. The refusals of a limit and of a budget both have it, because they share the schema of 402. */
const howToAsk: JsonSchema = {
  type: "object",
  description:
    "How to ask for more: a page for people with access to the workspace, the endpoint for this key and the assistants' tool, with `budget_id` or `key_id`. Of a connected program's limit only the page, because the person who connected it sets the limit.",
  properties: {
    page: { type: "string", format: "uri" },
    api: { type: "string" },
    tool: { type: "string" },
    budget_id: { type: "string", format: "uuid" },
    key_id: { type: "string", format: "uuid" },
  },
  required: ["page"],
};

/** Documents every error code. A code that is added to `statusOf` does not compile until it is documented here. */
export const errorReference: Record<ErrorCode, ErrorReference> = {
  invalid_json: {
    when: "The body is empty or is not valid JSON.",
    says: "The body is not valid JSON. Send one JSON document.",
  },
  validation_failed: {
    when: "A field, a parameter or a header is not as described; `issues` names each one.",
    says: "message.quantity: must be greater than 0",
    fields: {
      issues: {
        schema: {
          type: "array",
          description: "All problems, not only the first.",
          items: {
            type: "object",
            properties: {
              path: { type: "string", description: "The field, for example `message.quantity`." },
              message: { type: "string", description: "What to do about it." },
            },
            required: ["path", "message"],
          },
        },
        example: [{ path: "message.quantity", message: "must be greater than 0" }],
      },
    },
  },
  query_too_broad: {
    when: "A query of spend would read too much. It says how to narrow it.",
    says: "This query is about more than 1000000 daily sums. Choose a shorter range (from, to), or add filters, for example by project, key, model, feature or user.",
  },
  missing_credentials: {
    when: "There is no `Authorization: Bearer …` header.",
    says: "Send an API key in the Authorization header: `Authorization: Bearer svc_live_…`.",
  },
  invalid_credentials: {
    when: "The credentials are not known: they were mistyped, or rotated since.",
    says: "This API key is not known. Check for a typing error, or whether it was rotated.",
  },
  key_revoked: {
    when: "The API key was revoked.",
    says: "This API key was revoked. Make a new one in the dashboard.",
  },
  recent_sign_in_required: {
    when: "The call deletes something for good, and the session did not prove within the last hour who its user is.",
    says: "Sign in again, or enter the code of your authenticator app, and call again with the new session: this one began more than an hour ago.",
  },
  workspace_deleted: {
    when: "The workspace, of the key or of the path, was deleted. An owner can undo that for thirty days; what is recorded meanwhile is refused.",
    says: "The workspace of this API key was deleted. Its owner can undo that in the dashboard, for thirty days after the deletion.",
  },
  account_deleted: {
    when: "The account was deleted, and the session began before that. Signing in again within thirty days undoes the deletion.",
    says: "This account was deleted. To keep it, sign out, sign in again and open Outlay within thirty days of the deletion.",
  },
  key_expired: {
    when: "The API key is past its `expires_at`.",
    says: "This API key expired at 2026-11-01T00:00:00.000Z. Extend it or make a new one.",
  },
  monthly_limit_exceeded: {
    when: "The message would take the key past its `monthly_limit` for this UTC month, or the limit is used up already. Nothing was recorded; the amount is kept as refused. With `on_limit: record`, the key records it instead.",
    says: "This would take the API key past its monthly limit: $50, of which $49.98 is spent. The limit resets on 2026-12-01.",
    fields: {
      limit_usd: { schema: usd("The key's limit, USD a month."), example: 50 },
      spent_usd: { schema: usd("USD recorded with the key this month."), example: 49.98 },
      remaining_usd: { schema: usd("USD that is neither spent nor held."), example: 0.02 },
      held_usd: { schema: usd("USD that reservations hold, where they hold any."), example: 0.5 },
      resets_at: {
        schema: { type: "string", format: "date-time", description: "When the limit resets." },
        example: "2026-12-01T00:00:00Z",
      },
      how_to_ask: {
        schema: howToAsk,
        example: {
          page: "https://outlay.example.com/workspaces/ask?key=0193a0f7-1e44-7c02-a6d3-90b1f8e2d411",
          api: "POST /api/v1/budget-requests",
          tool: "request_budget",
          key_id: "0193a0f7-1e44-7c02-a6d3-90b1f8e2d411",
        },
      },
    },
  },
  budget_exceeded: {
    when: "The message would take a budget that blocks past its limit, or that budget is used up. Nothing was recorded; the amount is kept as refused. `GET /api/v1/limits` says what applies to a key.",
    says: 'This would take the budget "Checkout" past its limit: $500, of which $499.98 is spent. It resets at 2026-12-01T00:00:00.000Z.',
    fields: {
      budget: {
        schema: {
          type: "object",
          description: "The budget. Of several, the one that resets last.",
          properties: { id: { type: "string", format: "uuid" }, name: { type: "string" } },
          required: ["id", "name"],
        },
        example: { id: "0193a0f7-1e44-7c02-a6d3-90b1f8e2d417", name: "Checkout" },
      },
      period: {
        schema: {
          type: "object",
          description: "The period whose limit would be exceeded: its first day, and the day after its last.",
          properties: {
            from: { type: "string", format: "date" },
            until: { type: "string", format: "date" },
            time_zone: { type: "string" },
          },
          required: ["from", "until", "time_zone"],
        },
        example: { from: "2026-11-01", until: "2026-12-01", time_zone: "UTC" },
      },
      resets_at: {
        schema: { type: "string", format: "date-time", description: "When the period ends." },
        example: "2026-12-01T00:00:00.000Z",
      },
      how_to_ask: {
        schema: howToAsk,
        example: {
          page: "https://outlay.example.com/workspaces/ask?budget=0193a0f7-1e44-7c02-a6d3-90b1f8e2d417",
          api: "POST /api/v1/budget-requests",
          tool: "request_budget",
          budget_id: "0193a0f7-1e44-7c02-a6d3-90b1f8e2d417",
        },
      },
      limit_usd: {
        schema: usd("The limit of the period, USD. Only for keys that may read the budget."),
        example: 500,
      },
      spent_usd: {
        schema: usd("USD spent in the period. Only for keys that may read the budget."),
        example: 499.98,
      },
      remaining_usd: {
        schema: usd("USD that is neither spent nor held. Only for keys that may read the budget."),
        example: 0.02,
      },
      held_usd: {
        schema: usd(
          "USD that reservations hold, where they hold any. Only for keys that may read the budget.",
        ),
        example: 0.5,
      },
    },
  },
  permission_denied: {
    when: "The credentials lack the permission that this needs.",
    says: "This API key lacks the permission log_usage.",
    fields: {
      permission: {
        schema: { type: "string", description: "The permission that is missing." },
        example: "log_usage",
      },
    },
  },
  project_not_allowed: {
    when: "The key's conditions do not allow this project.",
    says: "This API key may not use the project checkout.",
    fields: {
      project: { schema: { type: "string", description: "The project's slug." }, example: "checkout" },
    },
  },
  feature_not_allowed: {
    when: "The key is restricted to certain features, and a line of usage has another or none.",
    says: "This API key may not record usage of the feature search.",
    fields: {
      allowed_features: {
        schema: { type: "array", items: { type: "string" }, description: "What the key may record." },
        example: ["summaries"],
      },
    },
  },
  user_not_allowed: {
    when: "The key is limited to certain users, and the message, or a line of usage, names another user or none.",
    says: "This API key may not record for this user.",
  },
  source_not_allowed: {
    when: "The key is restricted to certain sources, and the message has another.",
    says: "This API key may not record with the source import.",
    fields: {
      allowed_sources: {
        schema: { type: "array", items: { type: "string" }, description: "What the key may record with." },
        example: ["api"],
      },
    },
  },
  ip_not_allowed: {
    when: "The key has `allowed_cidrs`, and the caller's address is in none of them or cannot be known.",
    says: "This API key may not be used from 203.0.113.7.",
  },
  origin_not_allowed: {
    when: "A page of another origin made the call.",
    says: "Calls from this origin are not allowed.",
  },
  mfa_required: {
    when: "The user has two-factor authentication, or the workspace requires it, and the session has not given a code (its token's `aal` is not `aal2`). API keys are not affected.",
    says: "The workspace Acme requires two-factor authentication. Set it up in your account's settings, or sign in with your code.",
  },
  not_found: {
    when: "It does not exist, or the credentials do not give access to it. The response is the same in both cases.",
    says: "This does not exist, or your credentials do not give access to it.",
  },
  method_not_allowed: {
    when: "The path exists, but not with this method; `Allow` lists its methods.",
    says: "PUT is not allowed here. Allowed: GET.",
  },
  idempotency_conflict: {
    when: "The idempotency key was used for a different message.",
    says: 'The idempotency key "job-8812" was used for a different message (message.quantity). Use a new key for a new message.',
    fields: {
      differing_fields: {
        schema: { type: "array", items: { type: "string" }, description: "Where the two messages differ." },
        example: ["message.quantity"],
      },
    },
  },
  slug_taken: {
    when: "The slug is already in use.",
    says: "The slug acme is taken. Choose another.",
  },
  conflict: {
    when: "The present state does not allow it; the description names the state.",
    says: "This API key was revoked and cannot be changed. Make a new one.",
  },
  payload_too_large: {
    when: "The body is larger than the endpoint accepts.",
    says: "The body may have at most 1048576 bytes.",
    fields: {
      limit_bytes: {
        schema: { type: "integer", description: "Bytes that the body may have." },
        example: 1_048_576,
      },
    },
  },
  unsupported_media_type: {
    when: "The `Content-Type` is not JSON.",
    says: "Send the body as JSON, with Content-Type: application/json.",
  },
  misdirected_request: {
    when: "The request names no host, or one that this service does not serve.",
    says: "This service does not answer as outlay.internal. Its operator can add the name to ALLOWED_HOSTS.",
  },
  rate_limited: {
    when: "The key has made as many requests in the last 60 seconds as it may, or a user has done something as often as allowed. `Retry-After` is exact; refused calls do not extend it.",
    says: "This API key may make 600 requests in any 60 seconds. Try again in 12 s.",
    fields: {
      limit_rpm: {
        schema: { type: "integer", description: "Requests in any 60 seconds; for keys." },
        example: 600,
      },
      limit: {
        schema: {
          type: "integer",
          description: "How often it is allowed in the time that the description names; for users.",
        },
        example: 30,
      },
      retry_after_seconds: {
        schema: { type: "integer", description: "The same as `Retry-After`." },
        example: 12,
      },
    },
  },
  export_in_progress: {
    when: "Another export of the same user is still being sent. Each user may have one at a time.",
    says: "One of your exports is still being sent. Each user may have one at a time: try again when it is done.",
    fields: {
      retry_after_seconds: {
        schema: { type: "integer", description: "The same as `Retry-After`." },
        example: 10,
      },
    },
  },
  internal_error: {
    when: "Something went wrong on our side; the log has it under the `request_id`.",
    says: "Something went wrong on our side. The request_id helps us find out what.",
  },
  unavailable: {
    when: "The service is overloaded, or its database is unreachable, too slow or cannot store anything. Try again after `Retry-After`; with an idempotency key a retry never counts twice.",
    says: "The service is at capacity. Try again in a second.",
  },
};

/** An example of an error's body. */
export function exampleError(code: ErrorCode): Record<string, unknown> {
  const { says, fields = {} } = errorReference[code];
  const extra = Object.entries(fields).map(([name, { example }]) => [name, example]);
  return {
    error: code,
    error_description: says,
    ...Object.fromEntries(extra),
    request_id: "req_0b9f6c1e-5d0e-4b0a-9c55-6c2a3f1d7e84",
  };
}

/** Codes by status, in the order of the statuses. */
export function groupByStatus(codes: Iterable<ErrorCode>): [number, ErrorCode[]][] {
  const groups = new Map<number, ErrorCode[]>();
  for (const code of new Set(codes)) {
    const group = groups.get(statusOf[code]) ?? [];
    groups.set(statusOf[code], [...group, code]);
  }
  return [...groups].sort(([a], [b]) => a - b);
}
