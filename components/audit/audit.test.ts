import { describe, expect, it, test } from "vitest";
import { ExactNumber } from "@/lib/contract/values/exact-number";
import { toAuditView } from "./audit-view";
import { listDifferences } from "./differences";
import type { AuditEntry } from "./entry";
import { actorName, formatEntry } from "./format-entry";

const ada = {
  user_id: "5f0c2f5e-7c1e-4f5b-9a53-0d6a3a1c9b11",
  email: "ada@example.com",
  display_name: "Ada",
};
const graceId = "8a2d4c1b-93e5-4f70-8d16-7b9e0c5a2f43";

function entry(
  action: string,
  before: AuditEntry["before"],
  after: AuditEntry["after"],
  others: Partial<AuditEntry> = {},
): AuditEntry {
  const [kind = ""] = action.split(".");
  return {
    id: "b7d1e9c2-6f34-4a85-9c07-1e2d3f4a5b6c",
    at: "2026-11-21T09:30:00.000+00:00",
    actor: ada,
    key: null,
    action,
    subject: { kind, id: graceId },
    before,
    after,
    address: null,
    ...others,
  };
}

describe("An audit entry as text", () => {
  const grace = { user_id: graceId, email: "grace@example.com", role: "viewer" };
  it.each([
    [
      "changed the role of grace@example.com to member",
      entry("member.changed", grace, { ...grace, role: "member" }),
    ],
    ["removed grace@example.com", entry("member.deleted", grace, null)],
    ["left", entry("member.deleted", grace, null, { actor: { ...ada, user_id: graceId } })],
    [
      "invited anybody with the link as viewer",
      entry("invitation.created", null, { role: "viewer", email: null }),
    ],
    [
      "archived the project Checkout",
      entry(
        "project.changed",
        { name: "Checkout", archived_at: null },
        { name: "Checkout", archived_at: "2026-11-21T09:30:00+00:00" },
      ),
    ],
    [
      "asked for more of a key's monthly limit",
      entry("budget_request.created", null, { state: "pending", limited_key_id: graceId }),
    ],
    [
      "raised the monthly limit of the key CI",
      entry("api_key.changed", { name: "CI", raised_limit: null }, { name: "CI", raised_limit: 70 }),
    ],
    [
      "rotated the secret of the key CI",
      entry("api_key.changed", { name: "CI", last_four: "aaaa" }, { name: "CI", last_four: "bbbb" }),
    ],
    [
      "set the price of in-house ranker-7b input_tokens",
      entry("price.created", null, { provider: "in-house", model: "ranker-7b", unit_type: "input_tokens" }),
    ],
    [
      "corrected 61 messages of in-house, +$36.12",
      entry(
        "messages.repriced",
        null,
        { provider: "in-house", changed: new ExactNumber("61"), change_usd: new ExactNumber("36.12") },
        { subject: { kind: "repricing", id: null } },
      ),
    ],
    [
      "corrected no message of in-house",
      entry(
        "messages.repriced",
        null,
        { provider: "in-house", changed: new ExactNumber("0"), change_usd: new ExactNumber("0") },
        { subject: { kind: "repricing", id: null } },
      ),
    ],
    [
      "closed October 2026",
      entry(
        "closed_month.created",
        null,
        { month: "2026-10-01" },
        { subject: { kind: "closed_month", id: null } },
      ),
    ],
    ["created thing Something", entry("thing.created", null, { name: "Something" })],
  ])("%s", (words, line) => {
    expect(formatEntry(line)).toBe(words);
  });

  it("Names the author as they are called, and the service for changes without an author", () => {
    const line = entry("budget.deleted", { name: "All" }, null);
    expect(actorName(line)).toBe("Ada");
    expect(actorName({ ...line, actor: { ...ada, display_name: null } })).toBe("ada@example.com");
    expect(actorName({ ...line, actor: null })).toBe("The service");
    expect(actorName({ ...line, actor: null, key: { id: graceId, name: "CI" } })).toBe("The key CI");
  });
});

test("Leads from a change to all by its author: a user, a key, or neither", () => {
  const hrefs = (others: Partial<AuditEntry>) =>
    toAuditView(entry("budget.deleted", { name: "All" }, null, others), "/acme/settings/audit").links.map(
      ({ label, href }) => `${label}: ${href}`,
    );
  const path = "/acme/settings/audit";
  expect(hrefs({})).toContain(`All by Ada: ${path}?actor=${ada.user_id}`);
  expect(hrefs({ actor: null, key: { id: graceId, name: "CI" } })).toContain(
    `All by The key CI: ${path}?key=${graceId}`,
  );
  expect(hrefs({ actor: null })).toContain(`All by keys and the service: ${path}?actor=`);
});

describe("The changes of an audit entry", () => {
  it("Lists the fields that differ, to the last digit, and no others", () => {
    const before = { id: graceId, name: "All", amount: new ExactNumber("1000.000000000000000001") };
    const after = { id: graceId, name: "All", amount: new ExactNumber("1200") };
    expect(listDifferences(entry("budget.changed", before, after))).toEqual([
      { label: "Amount, USD", before: "1,000.000000000000000001", after: "1,200" },
    ]);
  });

  it("Formats empty values, lists and instants for people", () => {
    const before = { permissions: ["log_usage"], expires_at: null, conditions: { features: [] } };
    const after = {
      permissions: ["log_usage", "read_summaries"],
      expires_at: "2026-12-24T18:00:00+00:00",
      conditions: { features: ["chat"] },
    };
    expect(listDifferences(entry("api_key.changed", before, after))).toEqual([
      { label: "Permissions", before: "log_usage", after: "log_usage, read_summaries" },
      { label: "Expires", before: "none", after: "Dec 24, 2026, 6:00 PM UTC" },
      { label: "Features", before: "none", after: "chat" },
    ]);
  });

  it("Lists the given fields of a new object", () => {
    const after = { id: graceId, role: "viewer", email: null };
    expect(listDifferences(entry("invitation.created", null, after))).toEqual([
      { label: "Role", before: null, after: "viewer" },
    ]);
  });

  it("Names the tags and other settings of a source", () => {
    const before = { name: "CI", source_settings: null };
    const tags = [{ name: "team", attribute: "acme.team" }];
    const after = { name: "CI", source_settings: { default_project: "search", tags, trusted_cost: false } };
    expect(listDifferences(entry("api_key.changed", before, after))).toEqual([
      { label: "Default project", before: "none", after: "search" },
      { label: "Tags", before: "none", after: "team: acme.team" },
      { label: "Trusted cost", before: "none", after: "no" },
    ]);
  });
});
