import { describe, expect, test } from "vitest";
import { type Decimal, parseDecimal, zero } from "@/lib/decimal";
import { unlimitedKey } from "@/tests/helpers/unlimited-key";
import type { ApiKey, KeyUsage } from "./api-key";
import { type Attempt, decideAttempt, decideCall, decideCost } from "./decide";

const now = Date.UTC(2026, 10, 21, 12);

const fresh: KeyUsage = { spent: zero, window: { used: 0, freesAt: null } };
const attempt: Attempt = {
  permissions: ["log_usage"],
  source: "api",
  projects: ["checkout"],
  features: ["chat"],
};

const call = (key: Partial<ApiKey>, usage = fresh, address: string | undefined = "203.0.113.7", at = now) =>
  decideCall({ ...unlimitedKey, ...key }, usage, address, at);
type Act = Partial<Attempt> & { cost?: Decimal };
/** The guard's decision about an attempt, and then about its cost if it records one. */
const refuse = (changes: Partial<ApiKey>, { cost, ...rest }: Act = {}, usage = fresh) => {
  const key = { ...unlimitedKey, ...changes };
  return decideAttempt(key, { ...attempt, ...rest }) ?? (cost && decideCost(key, usage.spent, cost, now));
};
const act = (...args: Parameters<typeof refuse>) => refuse(...args)?.code ?? "admitted";

describe("A key's expiry", () => {
  test("Refuses from the exact millisecond of expires_at on", () => {
    expect(call({ expiresAt: now + 1 }).refusal).toBeNull();
    expect(call({ expiresAt: now }).refusal?.code).toBe("key_expired");
  });

  test("Reports a revoked key as revoked, even when it has also expired", () => {
    expect(call({ expiresAt: now - 1, revoked: true }).refusal?.code).toBe("key_revoked");
  });
});

describe("The caller's address", () => {
  test("Must match a non-empty list, in any notation", () => {
    expect(call({ allowedCidrs: ["203.0.113.0/24"] }).refusal).toBeNull();
    expect(call({ allowedCidrs: ["203.0.113.0/24"] }, fresh, "::ffff:203.0.113.7").refusal).toBeNull();
    expect(call({ allowedCidrs: ["::ffff:203.0.113.0/120"] }).refusal).toBeNull();
    expect(call({ allowedCidrs: ["2001:db8::/32"] }, fresh, "2001:db8::1").refusal).toBeNull();
    expect(call({ allowedCidrs: ["198.51.100.0/24", "2001:db8::/32"] }).refusal?.code).toBe("ip_not_allowed");
  });

  test("Is refused by a list when unknown, and only then", () => {
    expect(
      decideCall({ ...unlimitedKey, allowedCidrs: ["0.0.0.0/0", "::/0"] }, fresh, undefined, now).refusal
        ?.code,
    ).toBe("ip_not_allowed");
    expect(decideCall(unlimitedKey, fresh, undefined, now).refusal).toBeNull();
  });

  test("Is checked before the rate, so that a stranger cannot use the rate up", () => {
    const full = { spent: zero, window: { used: 1, freesAt: now + 1000 } };
    expect(call({ allowedCidrs: ["198.51.100.0/24"], rateLimitRpm: 1 }, full).refusal?.code).toBe(
      "ip_not_allowed",
    );
  });
});

describe("The rate limit", () => {
  test("Admits exactly the limit and reports what is left", () => {
    expect(call({ rateLimitRpm: 2 }, { spent: zero, window: { used: 1, freesAt: now + 500 } })).toEqual({
      refusal: null,
      rate: { limit: 2, remaining: 0, resetMs: 500 },
    });
    const { refusal } = call({ rateLimitRpm: 2 }, { spent: zero, window: { used: 2, freesAt: now + 1001 } });
    expect(refusal?.code).toBe("rate_limited");
    expect(refusal?.headers).toEqual({ "Retry-After": "2" });
  });
});

describe("A key's conditions", () => {
  test("Name a missing permission", () => {
    expect(act({ permissions: ["read_summaries"] })).toBe("permission_denied");
    const both = { permissions: ["log_usage", "read_summaries"] as const };
    expect(refuse({}, both)?.fields).toEqual({ permission: "read_summaries" });
    expect(act({ permissions: ["log_usage", "read_summaries"] }, both)).toBe("admitted");
  });

  test("Prefer project_id to both lists", () => {
    const key = {
      project: { slug: "checkout", id: "1" },
      conditions: { project_slugs: ["other"], deny_project_slugs: ["checkout"] },
    };
    expect(act(key)).toBe("admitted");
    expect(act(key, { projects: ["other"] })).toBe("project_not_allowed");
  });

  test("Prefer the allow-list to the deny-list, which applies alone", () => {
    expect(act({ conditions: { project_slugs: ["checkout"], deny_project_slugs: ["checkout"] } })).toBe(
      "admitted",
    );
    expect(act({ conditions: { project_slugs: ["search"] } })).toBe("project_not_allowed");
    expect(act({ conditions: { deny_project_slugs: ["checkout"] } })).toBe("project_not_allowed");
    expect(act({ conditions: { deny_project_slugs: ["search"] } })).toBe("admitted");
  });

  test("Require every project of a message to be allowed", () => {
    expect(act({ conditions: { project_slugs: ["checkout"] } }, { projects: ["checkout", "search"] })).toBe(
      "project_not_allowed",
    );
  });

  test("Refuse usage without a feature to a key with features", () => {
    const key = { conditions: { features: ["chat"] } };
    expect(act(key)).toBe("admitted");
    expect(act(key, { features: ["search"] })).toBe("feature_not_allowed");
    expect(act(key, { features: [undefined] })).toBe("feature_not_allowed");
    expect(act(key, { features: ["chat", "search"] })).toBe("feature_not_allowed");
  });

  test("Restrict the features of usage only", () => {
    const { features: _, ...expense } = attempt;
    expect(decideAttempt({ ...unlimitedKey, conditions: { features: ["chat"] } }, expense)).toBeNull();
  });

  test("Refuse another user, and none, to a key with users; name nobody", () => {
    const key = { conditions: { users: ["anna", "bo"] } };
    expect(act(key)).toBe("admitted");
    for (const users of [["cy"], [undefined], ["anna", "cy"], ["Anna"]]) {
      expect(act(key, { users })).toBe("user_not_allowed");
      expect(JSON.stringify(refuse(key, { users }))).not.toMatch(/anna|bo|cy/);
    }
    expect(act(key, { users: ["bo", "anna"] })).toBe("admitted");
  });

  test("Restrict sources", () => {
    expect(act({ conditions: { sources: ["mcp"] } })).toBe("source_not_allowed");
    expect(act({ conditions: { sources: ["mcp", "api"] } })).toBe("admitted");
  });

  test("Are checked in the order permission, source, project, feature", () => {
    const key = {
      permissions: [],
      conditions: { sources: ["mcp" as const], project_slugs: ["x"], features: ["y"] },
    };
    expect(act(key)).toBe("permission_denied");
    expect(act({ ...key, permissions: ["log_usage"] })).toBe("source_not_allowed");
    expect(act({ ...key, permissions: ["log_usage"] }, { source: "mcp" })).toBe("project_not_allowed");
    expect(act({ ...key, permissions: ["log_usage"] }, { source: "mcp", projects: ["x"] })).toBe(
      "feature_not_allowed",
    );
  });
});

describe("The monthly limit", () => {
  const spent = (text: string): KeyUsage => ({ ...fresh, spent: parseDecimal(text) });
  const limited = { monthlyLimit: parseDecimal("1") };

  test("Can be reached and never exceeded, to the last digit", () => {
    expect(act(limited, { cost: parseDecimal("0.01") }, spent("0.99"))).toBe("admitted");
    expect(act(limited, { cost: parseDecimal("0.010000000000000001") }, spent("0.99"))).toBe(
      "monthly_limit_exceeded",
    );
    expect(act(limited, { cost: parseDecimal("0.2") }, spent("0.8"))).toBe("admitted");
  });

  test("Does not apply to reads and replays", () => {
    expect(act(limited, {}, spent("5"))).toBe("admitted");
  });

  test("Refuses everything once used up, even what costs nothing", () => {
    expect(act(limited, { cost: zero }, spent("0.999999999999999999"))).toBe("admitted");
    expect(act(limited, { cost: zero }, spent("1"))).toBe("monthly_limit_exceeded");
    expect(act(limited, { cost: zero }, spent("1.5"))).toBe("monthly_limit_exceeded");
  });

  test("Reports the limit, what is spent, and when it resets", () => {
    const refusal = refuse(limited, { cost: parseDecimal("0.01") }, spent("0.995"));
    expect(refusal?.fields).toMatchObject({
      limit_usd: { text: "1" },
      spent_usd: { text: "0.995" },
      resets_at: "2026-12-01T00:00:00Z",
    });
  });
});
