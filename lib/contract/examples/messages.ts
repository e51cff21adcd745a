import type { ExampleSet } from "./example-set";

const projectId = "0193a0f2-8c1d-7b1e-9d55-1f3e0a6b7c20";

export const messageExamples: ExampleSet = {
  requests: {
    ReservationRequest: {
      tokens: {
        summary: "Input tokens, and the most output tokens",
        value: {
          project: "checkout",
          message: {
            type: "usage",
            provider: "openai",
            model: "gpt-4o",
            lines: [
              { unit_type: "input_tokens", quantity: 1200 },
              { unit_type: "output_tokens", quantity: 4000 },
            ],
          },
        },
      },
      most: {
        summary: "The most that the call may cost",
        value: {
          project: "checkout",
          message: {
            type: "usage",
            provider: "openai",
            unit_type: "requests",
            quantity: 1,
            estimated_cost: 0.5,
          },
          expires_in_seconds: 60,
        },
      },
    },
    VoidRequest: {
      twice: {
        summary: "A cost that was recorded twice",
        value: { reason: "Recorded twice, see INV-2041." },
      },
    },
    BulkActionRequest: {
      void: {
        summary: "Costs that were recorded twice",
        value: {
          action: "void",
          messages: ["0193a1b4-52c7-7d3a-8f10-4be2c6d90a51", "0193a1b4-52c7-7d3a-8f10-4be2c6d90a52"],
          reason: "Recorded twice, see INV-2041.",
        },
      },
      tag: {
        summary: "What tagging a session would do",
        value: {
          action: "correct",
          filters: { period: "month", session: "b7c2e9" },
          set: { add_tags: { team: "growth" } },
          dry_run: true,
        },
      },
    },
    CorrectRequest: {
      amount: {
        summary: "An expense with another amount",
        value: {
          reason: "The invoice says 84.90.",
          project: "checkout",
          message: { type: "expense", vendor: "Hetzner", amount: 84.9, currency: "EUR" },
        },
      },
    },
    CostMessage: {
      usage: {
        summary: "Usage of a model",
        value: {
          project: "checkout",
          source: "api",
          idempotency_key: "chatcmpl-9f2c41",
          message: {
            type: "usage",
            provider: "openai",
            model: "gpt-4o",
            unit_type: "output_tokens",
            quantity: 18250,
            feature: "order-summaries",
          },
        },
      },
      call: {
        summary: "A call of a model, with a line for each kind of token",
        value: {
          project: "checkout",
          source: "api",
          idempotency_key: "msg_01XhQ9",
          message: {
            type: "usage",
            provider: "anthropic",
            model: "claude-sonnet-4-5",
            lines: [
              { unit_type: "input_tokens", quantity: 200 },
              { unit_type: "cache_read_tokens", quantity: 1000 },
              { unit_type: "output_tokens", quantity: 34 },
            ],
          },
        },
      },
      person: {
        summary: "Usage of a person that a subscription covers, with tags",
        value: {
          project: "checkout",
          source: "api",
          idempotency_key: "req_011CT5",
          message: {
            type: "usage",
            provider: "anthropic",
            model: "claude-sonnet-4-5",
            unit_type: "output_tokens",
            quantity: 1800,
            user: "anna@example.com",
            session: "b7c2e9",
            included: true,
            tags: { team: "growth", cost_center: "4711" },
          },
        },
      },
      batch: {
        summary: "A batch job, several models",
        value: {
          project: "search",
          source: "api",
          idempotency_key: "batch_67d1f0",
          message: {
            type: "batch",
            provider: "anthropic",
            batch_id: "batch_67d1f0",
            items: [
              {
                model: "claude-sonnet-4-5",
                unit_type: "input_tokens",
                quantity: 1_480_000,
                feature: "reranking",
              },
              {
                model: "claude-sonnet-4-5",
                unit_type: "output_tokens",
                quantity: 96_400,
                feature: "reranking",
              },
            ],
          },
        },
      },
      expense: {
        summary: "An expense",
        value: {
          project: "checkout",
          source: "manual",
          message: {
            type: "expense",
            vendor: "Hetzner",
            amount: 84.9,
            currency: "EUR",
            category: "hosting",
            notes: "Invoice 2026-11-0183",
          },
        },
      },
      subscription: {
        summary: "A subscription",
        value: {
          project: "platform",
          source: "api",
          idempotency_key: "cursor-2026-11",
          message: {
            type: "subscription",
            vendor: "Cursor",
            amount: 240,
            currency: "USD",
            interval: "month",
            plan: "Teams",
            seats: 6,
            starts_on: "2026-11-01",
          },
        },
      },
      allocation: {
        summary: "Moving cost between projects",
        value: {
          project: "search",
          source: "manual",
          message: {
            type: "allocation",
            from_project: "platform",
            percent: 25,
            notes: "A quarter of the shared gateway",
          },
        },
      },
    },
    BulkRequest: {
      messages: {
        summary: "Two messages",
        value: {
          messages: [
            {
              project: "checkout",
              source: "import",
              idempotency_key: "row-1",
              message: {
                type: "usage",
                provider: "openai",
                model: "gpt-4o",
                unit_type: "input_tokens",
                quantity: 52000,
              },
            },
            {
              project: "checkout",
              source: "import",
              idempotency_key: "row-2",
              message: { type: "expense", vendor: "Hetzner", amount: 84.9, currency: "EUR" },
            },
          ],
        },
      },
    },
  },
  responses: {
    Reservation: {
      id: "0193a1b4-52c7-7d3a-8f10-4be2c6d90a60",
      state: "held",
      held_usd: 0.043,
      created_at: "2026-11-21T10:15:00.000+00:00",
      expires_at: "2026-11-21T10:20:00.000+00:00",
      message_id: null,
      settled_usd: null,
    },
    BulkAction: {
      id: "0193a1c9-0f1d-7e52-a1c4-7d20b3f64e19",
      action: "void",
      message_count: 2,
      unchanged_count: 0,
      before_usd: 0.365,
      after_usd: 0,
      messages: null,
      effects: null,
      undo_until: "2026-11-21T10:12:11.730+00:00",
      undone_at: null,
    },
    MessageVoid: {
      id: "0193a1c9-0f1d-7e52-a1c4-7d20b3f64e18",
      voids: "0193a1b4-52c7-7d3a-8f10-4be2c6d90a51",
      reason: "The invoice says 84.90.",
      created_at: "2026-11-21T10:02:11.730+00:00",
      correction: { id: "0193a1c9-0f20-7c7b-9a06-2f6be1d84c35", amount_usd: 98.23, cost_status: "converted" },
    },
    IngestResult: {
      id: "0193a1b4-52c7-7d3a-8f10-4be2c6d90a51",
      amount_usd: 0.1825,
      project_id: projectId,
      created_at: "2026-11-21T09:30:00.412+00:00",
      cost_status: "priced",
    },
    BulkResult: {
      recorded: 1,
      refused: 1,
      results: [
        {
          index: 0,
          status: 201,
          replayed: false,
          id: "0193a1b4-52c7-7d3a-8f10-4be2c6d90a51",
          amount_usd: 0.13,
          project_id: projectId,
          created_at: "2026-11-21T09:30:00.412+00:00",
          cost_status: "priced",
        },
        {
          index: 1,
          status: 403,
          error: "permission_denied",
          error_description: "This API key lacks the permission add_expenses.",
          permission: "add_expenses",
        },
      ],
    },
  },
};
