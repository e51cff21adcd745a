import { expect, test } from "vitest";
import { ExactNumber } from "@/lib/contract/exact-number";
import { changedFields, describeKeyForm, errorOf, formOf, newKeyForm, readKeyForm } from "./key-form-state";
import type { KeyView } from "./key-view";

const amounts: [string, string | null | undefined][] = [
  ["", null],
  ["50", "50"],
  ["$1,250.50", "1250.50"],
  ["0", "0"],
  ["007", "7"],
  ["123456789012345.123456789012345678", "123456789012345.123456789012345678"],
  ["1,5", undefined],
  ["fifty", undefined],
  ["-5", undefined],
  ["1e9", undefined],
];

test.each(amounts)("a monthly limit typed as %j is read to its last digit, or refused", (typed, text) => {
  const { request, errors } = readKeyForm({ ...newKeyForm, monthlyLimit: typed });
  if (text === undefined) expect(errors.monthly_limit).toBeDefined();
  else expect([request.monthly_limit, errors]).toEqual([text === null ? null : new ExactNumber(text), {}]);
});

test("a key for chosen projects is not made while none is chosen: it would be let into all", () => {
  const form = { ...newKeyForm, where: "only" as const };
  expect(errorOf(readKeyForm(form).errors, "conditions.project_slugs")).toBeDefined();
  expect(readKeyForm({ ...form, projects: ["checkout"] }).errors).toEqual({});
});

test("the sentence follows the form", () => {
  const form = { ...newKeyForm, where: "except" as const, projects: ["search"], monthlyLimit: "50" };
  expect(describeKeyForm(form)).toBe("May log usage in every project but search, up to $50 a month.");
  const bound = { ...form, project: { id: "1", slug: "checkout" }, environment: "test" as const };
  expect(describeKeyForm(bound)).toBe("May log usage in checkout, as test data, up to $50 a month.");
});

const key = {
  name: "CI",
  permissions: ["log_usage"],
  project_id: null,
  project: null,
  conditions: { project_slugs: ["checkout"], deny_project_slugs: ["search"], features: [], sources: ["api"] },
  monthly_limit: "9007199254740993.000000000000000001",
  expires_at: "2020-01-01T00:00:00.000+00:00",
  rate_limit_rpm: 60,
  allowed_cidrs: ["203.0.113.0/24"],
  environment: "live",
} as unknown as KeyView;

test("an edit sends what was touched and nothing else, an expiry that has passed included", () => {
  const before = formOf(key);
  expect(changedFields(before, { ...before })).toEqual({});
  expect(changedFields(before, { ...before, name: "CI 2" })).toEqual({ name: "CI 2" });
  expect(changedFields(before, { ...before, monthlyLimit: "", expiresAt: "" })).toEqual({
    monthly_limit: null,
    expires_at: null,
  });
});

test("an error of a list says which of its entries is wrong", () => {
  const errors = {
    "allowed_cidrs.1": "must be an address",
    "conditions.features": "must have at most 100 entries",
  };
  expect(errorOf(errors, "allowed_cidrs", ["10.0.0.1", "home"])).toBe("home must be an address");
  expect(errorOf(errors, "conditions.features")).toBe("must have at most 100 entries");
  expect(errorOf(errors, "conditions.sources")).toBeUndefined();
});
