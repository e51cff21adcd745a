import { describe, expect, test } from "vitest";
import { sourcePrograms } from "@/lib/contract/sources/source-programs";
import type { SourceOutcome, SourceSummary } from "@/lib/contract/sources/sources";
import { sentencesOf } from "./account";
import { programs } from "./programs";
import { describeReplay } from "./send-again";
import { describeSettings, toSettingsChange, toSettingsForm } from "./settings-form-state";
import { summarizeSources } from "./source-table";

const context = {
  url: "https://outlay.example.com",
  secret: "svc_live_abc",
  keyId: "key-1",
  project: undefined,
};

test.each(sourcePrograms)("The lines of %s have the address and the key, and JSON is valid", (program) => {
  const { blocks } = programs[program].setup(context);
  const code = blocks.map((block) => block.code).join("\n");
  expect(code).toContain(context.url);
  expect(code).toContain(context.secret);
  for (const block of blocks) if (block.language === "json") JSON.parse(block.code);
});

describe("The form of the settings", () => {
  const settings = {
    program: "otlp" as const,
    project_attribute: "service.name",
    default_project: "internal",
    feature_attribute: null,
    default_feature: null,
    tags: [{ name: "team", attribute: "acme.team" }],
    trusted_cost: false,
    subscription_covered: true,
  };

  test("Sends back what it was filled with", () => {
    const { program: _, ...change } = settings;
    expect(toSettingsChange(toSettingsForm(settings))).toEqual(change);
  });

  test("Clears what was emptied, and leaves out empty tags", () => {
    const form = { ...toSettingsForm(settings), projectAttribute: " ", cost: "usual" as const };
    form.tags = [...form.tags, { id: 9, name: "", attribute: " " }];
    expect(toSettingsChange(form)).toMatchObject({
      project_attribute: null,
      trusted_cost: null,
      tags: settings.tags,
    });
  });

  test("Says in words what it says", () => {
    expect(describeSettings(settings).map(({ value }) => value)).toEqual([
      "from service.name, else internal",
      "as the program says",
      "team from acme.team",
      "The price list's, always",
      "yes",
    ]);
  });
});

test.each([
  [{ recorded: 3 }, "3 records recorded."],
  [{ recorded: 1, repeated: 1, skipped: 1 }, "1 record recorded, 2 records counted before."],
  [{}, "Nothing to send again."],
  [
    { refused: 2, reasons: [{ code: "x", description: "This API key may not do that.", count: 2 }] },
    "2 records refused again. This API key may not do that.",
  ],
])("Says what became of %j", (changes, text) => {
  const nothing = { sent: 0, recorded: 0, repeated: 0, refused: 0, skipped: 0, reasons: [] };
  expect(describeReplay({ ...nothing, ...changes })).toBe(text);
});

test("Sums sources up in a sentence", () => {
  const source = (last: string | null, isSilent = false) =>
    ({ last_received_at: last, is_silent: isSilent }) as SourceSummary;
  expect(summarizeSources([source("x"), source("x", true), source(null), source(null)])).toBe(
    "One source sent something in the last 24 hours. One source sent before and is silent now. 2 sources sent nothing yet.",
  );
});

test("Says in words what became of the records of a source", () => {
  const row = (emitter: string, outcome: SourceOutcome, count: number, by: string | null = null) => ({
    emitter,
    outcome,
    by,
    count,
  });
  expect(
    sentencesOf([
      row("opentelemetry", "without_counts", 3),
      row("openinference", "told_again", 300, "anthropic-sdk"),
      row("anthropic-sdk", "recorded", 412),
      row("anthropic-sdk", "told_again", 98, "openinference"),
      row("opentelemetry", "told_again", 7, "anthropic-sdk"),
      row("openinference", "replayed", 1),
      row("claude-code", "repeats", 2, "told_one_by_one"),
      row("codex", "repeats", 5, "other_signal"),
      row("unknown", "refused", 4, "validation_failed"),
      row("claude-code", "refused", 1, "project_not_allowed"),
    ]),
  ).toEqual([
    "412 calls recorded.",
    "398 calls reported by both OpenInference and the Anthropic SDK, and counted once.",
    "7 calls reported by both the Anthropic SDK and another library, and counted once.",
    "1 record sent again, and counted once.",
    "5 records left out, because other records of the same program report the same calls.",
    "2 sums of calls that are reported one by one, left out.",
    "3 records without token counts, not recorded.",
    "5 records refused.",
  ]);
});
