import { expect, test } from "vitest";
import { ExactNumber } from "@/lib/contract/values/exact-number";
import { type SummarizedKey, summarizeKey } from "./summarize-key";

const cases: [string, SummarizedKey][] = [
  ["May do nothing yet.", { permissions: [] }],
  ["May log usage in every project.", { permissions: ["log_usage"] }],
  [
    "May log usage in checkout and search, up to $50 a month, until 1 March 2027.",
    {
      permissions: ["log_usage"],
      conditions: { project_slugs: ["checkout", "search"], deny_project_slugs: ["secret"] },
      monthly_limit: 50,
      expires_at: "2027-03-01T00:00:00Z",
    },
  ],
  [
    "May log usage, add expenses, manage subscriptions and read summaries in checkout, as test data, up to $1,234,567.50 a month, at most 1,200 requests a minute, from 203.0.113.0/24 or 2001:db8::/32, until 28 February 2027 at 22:30 UTC.",
    {
      permissions: ["log_usage", "add_expenses", "manage_subscriptions", "read_summaries"],
      project: { slug: "checkout" },
      conditions: { project_slugs: ["search"] },
      environment: "test",
      monthly_limit: new ExactNumber("1234567.5"),
      rate_limit_rpm: 1200,
      allowed_cidrs: ["203.0.113.0/24", "2001:db8::/32"],
      expires_at: "2027-03-01T00:00:00+01:30",
    },
  ],
  [
    "May read summaries in every project but a, b, c, d and 2 more, with the feature chat, with the sources api or mcp, up to $0 a month.",
    {
      permissions: ["read_summaries"],
      conditions: {
        deny_project_slugs: ["a", "b", "c", "d", "e", "f"],
        features: ["chat"],
        sources: ["api", "mcp"],
      },
      monthly_limit: 0,
    },
  ],
];

test.each(cases)("%s", (sentence, key) => {
  expect(summarizeKey(key)).toBe(sentence);
});
