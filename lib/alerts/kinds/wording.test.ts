import { describe, expect, test } from "vitest";
import { type Alert, alert, base, delivery, send } from "@/tests/helpers/alert-requests";
import { alertMail } from "./email";

// Checks the words of alerts of every rule except a budget's thresholds, for every kind of channel.

describe("The other rules", () => {
  const budgetFigures = {
    ...{
      subject: "Checkout",
      scope_type: "project",
      scope_value: "checkout",
      amount_usd: "1000",
      spent_usd: "400",
    },
    ...{ period_from: "2026-11-01", period_until: "2026-12-01" },
  };
  type Alerted = {
    subject_type: Alert["subject_type"];
    details: Record<string, unknown>;
  };
  const rules: [Alert["rule"], Alerted, string, string, string][] = [
    [
      "budget_forecast",
      {
        subject_type: "budget",
        details: {
          ...budgetFigures,
          forecast_usd: "1200.5",
          percent: "120.05",
          method: "The usage of 10 days.",
          data_days: 10,
        },
      },
      "The budget Checkout is forecast to be exceeded",
      "The period from Nov 1, 2026 to Nov 30, 2026 is forecast to end at $1,200.50, 120.05% of $1,000.00. $400.00 is spent so far.",
      "The budget Checkout is forecast to stay within its limit again",
    ],
    [
      "budget_pace",
      { subject_type: "budget", details: { ...budgetFigures, before_usd: "0.009", percent: "4444444" } },
      "The budget Checkout is spent faster than in its last period",
      "$400.00 is spent so far, 4,444,444% of the $0.01 at the same point of the last period.",
      "The budget Checkout is back at its usual pace",
    ],
    [
      "key_limit",
      {
        subject_type: "key",
        details: {
          ...{ subject: "Agent", amount_usd: "100", spent_usd: "80", percent: "80" },
          ...{ period_from: "2026-11-01", period_until: "2026-12-01" },
        },
      },
      "The key Agent is near its monthly limit",
      "$80.00 of $100.00 is spent in the month.",
      "The key Agent is no longer near its monthly limit",
    ],
    [
      "key_expiry",
      { subject_type: "key", details: { subject: "Agent", expires_at: "2026-11-26T00:00:00.000+00:00" } },
      "The key Agent expires soon",
      "It expires on Nov 26, 2026, 12:00 AM UTC. Extend it or make a new one.",
      "The key Agent no longer expires soon",
    ],
    [
      "bill_coverage",
      {
        subject_type: "workspace",
        details: {
          ...{ subject: "Acme", billed_usd: "250", missing_usd: "29", percent: "88.4" },
          ...{ period_from: "2026-11-01", period_until: "2026-12-01" },
        },
      },
      "$29.00 of the bills is not recorded",
      "88.4% of the $250.00 that providers billed from Nov 1, 2026 to Nov 30, 2026 is recorded.",
      "What is billed is recorded",
    ],
    [
      "bill_difference",
      {
        subject_type: "workspace",
        details: {
          ...{ subject: "Acme", billed_usd: "250", recorded_usd: "1500", difference_usd: "1250" },
          ...{ period_from: "2026-11-01", period_until: "2026-12-01" },
        },
      },
      "The bills differ from what is recorded by $1,250.00",
      "Providers billed $250.00 from Nov 1, 2026 to Nov 30, 2026, and $1,500.00 of the billed days is recorded.",
      "The bills and what is recorded agree",
    ],
    [
      "provider_limit",
      {
        subject_type: "budget",
        details: {
          ...{
            subject: "Checkout",
            provider: "openai",
            target: "Checkout",
            limit_state: "drift",
            problem: null,
          },
          ...{ written_usd: "500", held_usd: "300" },
        },
      },
      "OpenAI holds another limit than the budget Checkout",
      "Someone has changed it there: it holds $300.00, and $500.00 was set.",
      "The limits of the budget Checkout at providers hold",
    ],
    [
      "refused_costs",
      {
        subject_type: "budget",
        details: {
          ...{ subject: "Checkout", refused_usd: "1234.5", message_count: 1200 },
          ...{ period_from: "2026-11-01", period_until: "2026-12-01" },
        },
      },
      "The budget Checkout refused $1,234.50",
      "It refused to record 1,200 messages from Nov 1, 2026 to Nov 30, 2026. The amount may have been spent all the same.",
      "The budget Checkout no longer refuses as much",
    ],
    [
      "unpriced_usage",
      {
        subject_type: "model",
        details: {
          subject: "gpt-9",
          model: "gpt-9",
          provider: "openai",
          line_count: 1200,
          period_from: "2026-11-01",
          period_until: "2026-12-01",
        },
      },
      "Usage of gpt-9 has no price",
      "1,200 usage lines count as $0 until a price is set. Recorded usage is priced then.",
      "All usage of gpt-9 has a price",
    ],
    [
      "silent_source",
      {
        subject_type: "source",
        details: { subject: "CI", hours: 24, last_at: "2026-11-20T08:00:00.000+00:00" },
      },
      "The source CI sends nothing",
      "Nothing came in from it for more than 24 hours. The last was on Nov 20, 2026, 8:00 AM UTC.",
      "The source CI sends again",
    ],
  ];
  const told = (
    rule: (typeof rules)[number][0],
    { subject_type, details: figures }: Alerted,
    state: "warning" | "ok",
  ) => ({
    alert: { ...alert, rule, state, level: state, subject_type, subject_id: "s1", details: figures },
  });

  test.each(rules)(
    "Say of %s what happened, why, and that it is over, to every kind of channel",
    (rule, figures, title, text, over) => {
      const [begun, ended] = [told(rule, figures, "warning"), told(rule, figures, "ok")];
      const { body } = send("webhook", begun);
      expect(body).toMatchObject({
        type: "alert.fired",
        data: { rule, state: "warning", severity: "warning", title, summary: text, figures: { rule } },
      });
      expect(body.data.url).toMatch(/^https:\/\/outlay\.example\.com\/acme\//);
      expect(send("webhook", ended).body).toMatchObject({
        type: "alert.resolved",
        data: { rule, state: "ok", severity: "info", title: over },
      });
      expect(send("slack", begun).body.text).toBe(`${title}. ${text}`);
      expect(send("discord", begun).body.embeds[0]).toMatchObject({
        title: title.replace(/[#]/g, "\\$&"),
        color: 0xd97706,
      });
      expect(send("teams", begun).body.attachments[0].content.body[1].text).toBe(text);
      expect(alertMail(delivery("email", null, begun), base)).toMatchObject({
        subject: title,
        text: expect.stringContaining(text),
        html: expect.stringContaining(text),
      });
      const key = `us ${"0123456789abcdef".repeat(2)}`;
      const [triggered, resolved] = [send("pagerduty", begun, key).body, send("pagerduty", ended, key).body];
      expect([triggered.event_action, resolved.event_action]).toEqual(["trigger", "resolve"]);
      expect(resolved.dedup_key).toBe(triggered.dedup_key);
      expect(triggered.dedup_key).toBe(`outlay/w1/${rule}/s1/2026-11-01`);
    },
  );

  test("Say a forecast without cents where it is rounded to dollars", () => {
    const [, { subject_type, details: figures }] = rules[0] as (typeof rules)[number];
    const rounded = { ...figures, forecast_usd: "5470", percent: "547" };
    const { summary } = send(
      "webhook",
      told("budget_forecast", { subject_type, details: rounded }, "warning"),
    ).body.data;
    expect(summary).toContain("is forecast to end at $5,470, 547% of $1,000.00.");
  });

  test("Say of an unusual day what it is compared with", () => {
    const compared = ["2026-10-24", "2026-10-31", "2026-11-07", "2026-11-14"].map((day) => ({
      day,
      spent_usd: "20",
    }));
    const figures = {
      ...{
        subject: "Acme",
        day: "2026-11-21",
        spent_usd: "120",
        median_usd: "20",
        mad_usd: "0",
        above_usd: "40",
        compared,
      },
      ...{ period_from: "2026-11-21", period_until: "2026-11-22" },
    };
    const { title, summary, activity_url } = send(
      "webhook",
      told("unusual_day", { subject_type: "workspace", details: figures }, "warning"),
    ).body.data;
    expect(title).toBe("Nov 21, 2026 costs far more than usual");
    expect(summary).toBe(
      "$120.00 was spent on Nov 21, 2026 (UTC), against a median of $20.00 on the same weekdays of the four weeks before.",
    );
    expect(activity_url).toContain("from=2026-11-21&to=2026-11-21");
  });

  test.each([
    ["period_over", "The period is over, and a new one has begun."],
    ["gone", "The budget was deleted."],
  ])("Say why something is over: %s", (because, text) => {
    const [, { subject_type, details: figures }] = rules[0] as (typeof rules)[number];
    const ended = told("budget_forecast", { subject_type, details: { ...figures, because } }, "ok");
    expect(send("webhook", ended).body.data.summary).toBe(text);
  });
});
