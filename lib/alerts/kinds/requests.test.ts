import { Webhook } from "standardwebhooks";
import { describe, expect, test } from "vitest";
import type { Claimed } from "@/lib/alerts/delivery/claimed";
import type { ChannelKind } from "@/lib/contract/alert-channels";
import { alertMail } from "./email";
import { requestOf } from "./requests";

// What each kind of channel is sent, by the documentation of its receiver.

const base = "https://outlay.example.com";
const now = Date.parse("2026-11-21T09:30:05Z");
const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

const details = {
  budget: "Checkout",
  scope_type: "project",
  scope_value: "0193a0f7-0000-7000-8000-000000000001",
  percent: "80",
  amount_usd: "1000",
  spent_usd: "800.012500000000000001",
  period_from: "2026-11-01",
  period_until: "2026-12-01",
};

const alert: NonNullable<Claimed["alert"]> = {
  id: "0193a0f7-7b2e-7a55-8c0d-1d9e4f6a2b38",
  rule: "budget_threshold",
  state: "warning",
  level: "80",
  period: "2026-11-01",
  subject_type: "budget",
  subject_id: "b1",
  details,
  fired_at: "2026-11-21T09:30:00.123456+00:00",
  project_slug: "checkout",
};

function delivery(kind: ChannelKind, address: string | null, more: Partial<Claimed> = {}): Claimed {
  return {
    workspace_id: "w1",
    id: "d1",
    lease: "l1",
    attempts: 1,
    workspace: { slug: "acme", name: "Acme" },
    channel: {
      id: "c1",
      name: "Ours",
      kind,
      is_failing: false,
      address,
      signing_secrets: [secret],
      recipients: [],
    },
    alert,
    digest: null,
    ...more,
  };
}

const named = (budget: string) => ({ alert: { ...alert, details: { ...details, budget } } });
const at = (percent: string) => ({
  alert: {
    ...alert,
    state: Number(percent) >= 100 ? ("alert" as const) : ("warning" as const),
    level: percent,
    details: { ...details, percent },
  },
});
const send = (kind: ChannelKind, more: Partial<Claimed> = {}, address = "https://receiver.example/x") => {
  const request = requestOf(delivery(kind, address, more), base, now);
  return { ...request, body: JSON.parse(request.body) };
};

const budgetLink = "https://outlay.example.com/acme/budgets#budget-b1";
const rowsLink =
  "https://outlay.example.com/acme/activity?period=range&from=2026-11-01&to=2026-11-30&environment=live&project=checkout";
const sentence = "$800.01 of $1,000.00 is spent in the period from Nov 1, 2026 to Nov 30, 2026.";

describe("A webhook", () => {
  test("Has the headers and the body that the guide documents", () => {
    const { headers, body } = send("webhook");
    expect(Object.keys(headers)).toEqual(["webhook-id", "webhook-timestamp", "webhook-signature"]);
    expect([headers["webhook-id"], headers["webhook-timestamp"]]).toEqual(["d1", String(now / 1000)]);
    expect(body).toEqual({
      type: "alert.fired",
      timestamp: "2026-11-21T09:30:00.123+00:00",
      data: {
        id: alert.id,
        rule: "budget_threshold",
        state: "warning",
        severity: "warning",
        level: "80",
        workspace: { slug: "acme", name: "Acme" },
        subject: { type: "budget", id: "b1", name: "Checkout" },
        period: { from: "2026-11-01", until: "2026-12-01" },
        title: "80 % of the budget Checkout is spent",
        summary: sentence,
        figures: {
          rule: "budget_threshold",
          scope_type: "project",
          scope_value: "checkout",
          percent: "80",
          amount_usd: "1000",
          spent_usd: "800.012500000000000001",
        },
        url: budgetLink,
        activity_url: rowsLink,
      },
    });
  });

  test("Is signed over its id, its time and the bytes of its body", () => {
    const { headers, body } = requestOf(delivery("webhook", "https://receiver.example/"), base, now);
    const expected = new Webhook(secret).sign("d1", new Date(now), body);
    expect(headers["webhook-signature"]).toBe(expected);
  });

  test.each([
    ["global", null, ""],
    ["project", "gone", ""],
    ["feature", "a&b", "&feature=a%26b"],
    ["key", "k1", "&key=k1"],
    ["user", "grace@example.com", "&user=grace%40example.com"],
    ["tag", "team:growth", "&tag=team%3Agrowth"],
  ])("Links to the rows of a budget with the scope %s %s", (scope_type, scope_value, filter) => {
    const scoped = { ...alert, project_slug: null, details: { ...details, scope_type, scope_value } };
    const { data } = send("webhook", { alert: scoped }).body;
    expect(data.activity_url).toBe(rowsLink.replace("&project=checkout", filter));
  });

  test("Says of a test that it is one", () => {
    expect(send("webhook", { alert: null }).body).toEqual({
      type: "alert.test",
      timestamp: "2026-11-21T09:30:05.000+00:00",
      data: {
        workspace: { slug: "acme", name: "Acme" },
        channel: { id: "c1", name: "Ours" },
        url: "https://outlay.example.com/acme/alerts",
      },
    });
  });
});

describe("Slack", () => {
  test("Is sent blocks, with a text for the notification and buttons", () => {
    const { body } = send("slack");
    expect(body.text).toBe(`80 % of the budget Checkout is spent. ${sentence}`);
    expect(body.blocks.map(({ type }: { type: string }) => type)).toEqual([
      "header",
      "section",
      "section",
      "actions",
    ]);
    expect(body.blocks[2].fields).toContainEqual({ type: "mrkdwn", text: "*Project*\ncheckout" });
    expect(body.blocks[3].elements.map(({ url }: { url: string }) => url)).toEqual([budgetLink, rowsLink]);
  });

  test.each([
    ["<!channel> & <@U1>", "&lt;!channel&gt; &amp; &lt;@U1&gt;"],
    ["<https://evil.example|click>", "&lt;https://evil.example|click&gt;"],
  ])("Is not told to mention or to link by the name %s", (name, escaped) => {
    expect(send("slack", named(name)).body.text).toContain(escaped);
  });

  test("Is sent a header of at most 150 characters", () => {
    const [header] = send("slack", named("n".repeat(200))).body.blocks;
    expect(header.text.text).toHaveLength(150);
  });
});

describe("Discord", () => {
  test("Is sent an embed that mentions nobody", () => {
    const { body } = send("discord");
    expect(body.allowed_mentions).toEqual({ parse: [] });
    expect(body.embeds).toMatchObject([
      { title: "80 % of the budget Checkout is spent", url: budgetLink, color: 0xd97706 },
    ]);
    expect(body.embeds[0].description).toContain(`[Show what was spent](${rowsLink})`);
    expect(body.embeds[0].fields).toContainEqual({ name: "Spent", value: "$800.01", inline: true });
  });

  test("Shows a name with Markdown as it is", () => {
    expect(send("discord", named("**[x](https://evil.example)** @everyone")).body.embeds[0].title).toContain(
      "\\*\\*\\[x\\]\\(https://evil.example\\)\\*\\* \\@everyone",
    );
  });
});

describe("Teams", () => {
  test("Is sent an Adaptive Card as the attachment of a message", () => {
    const { body } = send("teams");
    expect(body.type).toBe("message");
    const [{ contentType, content }] = body.attachments;
    expect(contentType).toBe("application/vnd.microsoft.card.adaptive");
    expect(content).toMatchObject({ type: "AdaptiveCard", version: "1.4" });
    expect(content.body[0]).toMatchObject({ text: "80 % of the budget Checkout is spent", color: "Warning" });
    expect(content.body[2].facts).toContainEqual({ title: "Threshold", value: "80 %" });
    expect(content.actions).toContainEqual({
      type: "Action.OpenUrl",
      title: "Open the budget",
      url: budgetLink,
    });
  });

  test("Is not told to mention or to link by a name", () => {
    const [title] = send("teams", named("<at>All</at> [x](https://evil.example)")).body.attachments[0].content
      .body;
    expect(title.text).toContain("&lt;at&gt;All&lt;/at&gt; \\[x\\]\\(https://evil.example\\)");
  });
});

describe("PagerDuty", () => {
  const key = "0123456789abcdef0123456789abcdef";

  test.each([
    ["us", "https://events.pagerduty.com/v2/enqueue"],
    ["eu", "https://events.eu.pagerduty.com/v2/enqueue"],
  ])("Is sent an event of the Events API v2 in the region %s", (region, url) => {
    const request = send("pagerduty", {}, `${region} ${key}`);
    expect(request.url).toBe(url);
    expect(request.body).toMatchObject({
      routing_key: key,
      event_action: "trigger",
      dedup_key: "outlay/w1/budget_threshold/b1/2026-11-01",
      payload: {
        summary: `80 % of the budget Checkout is spent: ${sentence}`,
        source: base,
        severity: "warning",
        timestamp: "2026-11-21T09:30:00.123+00:00",
        custom_details: { spent_usd: "800.012500000000000001" },
      },
      links: [{ href: budgetLink, text: "Open the budget" }, { href: rowsLink }],
    });
  });

  test.each([
    ["50", "info"],
    ["79.99", "info"],
    ["80", "warning"],
    ["100", "critical"],
    ["120", "critical"],
  ])("Is told the severity of %s %%: %s", (percent, severity) => {
    expect(send("pagerduty", at(percent), `us ${key}`).body.payload.severity).toBe(severity);
  });

  test("Gets one incident for all thresholds of a budget in a period, and another one for a test", () => {
    const keyOf = (more: Partial<Claimed>) => send("pagerduty", more, `us ${key}`).body.dedup_key;
    expect(keyOf(at("100"))).toBe(keyOf(at("80")));
    expect(keyOf({ alert: { ...alert, period: "2026-12-01" } })).not.toBe(keyOf({}));
    expect(keyOf({ alert: null })).toBe("outlay/w1/test/c1");
    expect(keyOf({ alert: { ...alert, subject_id: "s".repeat(256) } }).length).toBeLessThanOrEqual(255);
  });
});

describe("A mail", () => {
  test("Says the same in plain text and in HTML, with links", () => {
    const { subject, text, html, link } = alertMail(delivery("email", null), base);
    expect([subject, link]).toEqual(["80 % of the budget Checkout is spent", budgetLink]);
    for (const each of [sentence, "Project", "checkout"])
      expect([text, html].every((part) => part.includes(each))).toBe(true);
    expect(text).toContain(`Show what was spent: ${rowsLink}`);
    expect(html).toContain(rowsLink.replaceAll("&", "&amp;"));
  });

  test("Escapes names in HTML, and has a subject of one line", () => {
    const { subject, html } = alertMail(
      delivery("email", null, named('<img src=x onerror="1">\r\nBcc: a@b')),
      base,
    );
    expect(html).not.toContain("<img");
    expect(subject).not.toMatch(/[\r\n]/);
  });
});

test("A budget at 100 % is used up", () => {
  expect(alertMail(delivery("email", null, at("100")), base).subject).toBe("The budget Checkout is used up");
});

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
  type Told = {
    subject_type: NonNullable<Claimed["alert"]>["subject_type"];
    details: Record<string, unknown>;
  };
  const rules: [NonNullable<Claimed["alert"]>["rule"], Told, string, string, string][] = [
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
      "The period from Nov 1, 2026 to Nov 30, 2026 is forecast to end at $1,200.50, 120.05 % of $1,000.00. $400.00 is spent so far.",
      "The budget Checkout is forecast to last again",
    ],
    [
      "budget_pace",
      { subject_type: "budget", details: { ...budgetFigures, before_usd: "0.009", percent: "4444444" } },
      "The budget Checkout is spent faster than in its last period",
      "$400.00 is spent so far, 4,444,444 % of the $0.01 at the same point of the last period.",
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
      "The key Agent is far from its monthly limit again",
    ],
    [
      "key_expiry",
      { subject_type: "key", details: { subject: "Agent", expires_at: "2026-11-26T00:00:00.000+00:00" } },
      "The key Agent expires soon",
      "It expires on Nov 26, 2026, 12:00 AM UTC. Extend it or make a new one.",
      "The key Agent does not expire soon any more",
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
      "1,200 usage lines count as $0 until a price is set. What is recorded is priced then.",
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
    { subject_type, details: figures }: Told,
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

describe("A digest", () => {
  const many = Array.from({ length: 12 }, (_, index) => ({
    ...alert,
    id: `a${index}`,
    level: String(80 + index),
  }));
  const digest = { alert: null, digest: { time_zone: "Europe/Berlin", count: 12, alerts: many } };
  const title = "12 alerts of Acme";

  test("Is an event with all of its alerts for a webhook", () => {
    const { type, data } = send("webhook", digest).body;
    expect([type, data.count, data.alerts.length]).toEqual(["alert.digest", 12, 12]);
    expect(data.alerts[0]).toMatchObject({
      id: "a0",
      fired_at: "2026-11-21T09:30:00.123+00:00",
      severity: "warning",
    });
  });

  test("Is one message in a chat that lists nine alerts and counts the others", () => {
    const [header, , fields] = send("slack", digest).body.blocks;
    expect([header.text.text, fields.fields.length, fields.fields[9].text]).toEqual([
      title,
      10,
      "*And*\n3 more",
    ]);
    const [embed] = send("discord", digest).body.embeds;
    expect([embed.title, embed.fields.length, embed.color]).toEqual([title, 10, 0xd97706]);
    const card = send("teams", digest).body.attachments[0].content;
    expect([card.body[0].text, card.body[2].facts.length]).toEqual([title, 10]);
  });

  test("Is an incident of its own in PagerDuty, as serious as its worst alert", () => {
    const worst = [...many.slice(1), { ...alert, state: "alert" as const }];
    const { dedup_key: key, payload } = send(
      "pagerduty",
      { ...digest, digest: { ...digest.digest, alerts: worst } },
      "eu R0UT1NGK3Y",
    ).body;
    expect([key, payload.severity, payload.class]).toEqual(["outlay/w1/digest/d1", "critical", "digest"]);
  });
});
