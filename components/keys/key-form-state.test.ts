import { expect, test } from "vitest";
import { ExactNumber } from "@/lib/contract/values/exact-number";
import {
  changedFields,
  errorOf,
  newKeyForm,
  parseKeyForm,
  summarizeKeyForm,
  toKeyForm,
} from "./key-form-state";
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

test.each(amounts)("Reads the typed monthly limit %j to its last digit, or refuses it", (typed, text) => {
  const { request, errors } = parseKeyForm({ ...newKeyForm, monthlyLimit: typed });
  if (text === undefined) expect(errors.monthly_limit).toBeDefined();
  else expect([request.monthly_limit, errors]).toEqual([text === null ? null : new ExactNumber(text), {}]);
});

test("Requires a chosen project for a key that is limited to projects", () => {
  const form = { ...newKeyForm, where: "only" as const };
  expect(errorOf(parseKeyForm(form).errors, "conditions.project_slugs")).toBeDefined();
  expect(parseKeyForm({ ...form, projects: ["checkout"] }).errors).toEqual({});
});

test("Updates the sentence when the form changes", () => {
  const form = { ...newKeyForm, where: "except" as const, projects: ["search"], monthlyLimit: "50" };
  expect(summarizeKeyForm(form)).toBe("May log usage in every project but search, up to $50 a month.");
  const bound = { ...form, project: { id: "1", slug: "checkout" }, environment: "test" as const };
  expect(summarizeKeyForm(bound)).toBe("May log usage in checkout, as test data, up to $50 a month.");
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

test("Sends only edited fields, an expiry in the past included", () => {
  const before = toKeyForm(key);
  expect(changedFields(before, { ...before })).toEqual({});
  expect(changedFields(before, { ...before, name: "CI 2" })).toEqual({ name: "CI 2" });
  expect(changedFields(before, { ...before, monthlyLimit: "", expiresAt: "" })).toEqual({
    monthly_limit: null,
    expires_at: null,
  });
});

test("Names the wrong entry of a list", () => {
  const errors = {
    "allowed_cidrs.1": "must be an address",
    "conditions.features": "must have at most 100 entries",
  };
  expect(errorOf(errors, "allowed_cidrs", ["10.0.0.1", "home"])).toBe("home must be an address");
  expect(errorOf(errors, "conditions.features")).toBe("must have at most 100 entries");
  expect(errorOf(errors, "conditions.sources")).toBeUndefined();
});
