import type { Filled } from "./reconcilable";

/** A corruption: its name, the statement, and the differences that must be found. */
export type Corruption = [
  name: string,
  statement: (of: Filled) => string,
  found: string[],
  place?: Record<string, unknown>,
];

const day = "(select min(day) from public.daily_spend where workspace_id = $1 and type = 'usage')";
/** Each changes one figure of a filled workspace. */
export const corruptions: Corruption[] = [
  [
    "an amount of a day, by the last digit",
    () =>
      `update public.daily_spend set amount_usd = amount_usd + 1e-18 where workspace_id = $1 and day = ${day}`,
    ["daily_spend amount_usd 0.000000000000000001"],
    {
      day: "2026-02-14",
      project: "alpha",
      key: "Test key",
      type: "usage",
      provider: "p",
      model: "m",
      feature: "chat",
      source: "api",
      environment: "live",
    },
  ],
  [
    "the messages of a day",
    () => `update public.daily_spend set message_count = 3 where workspace_id = $1 and day = ${day}`,
    ["daily_spend message_count 2"],
  ],
  [
    "the items of a day",
    () => `update public.daily_spend set item_count = 0 where workspace_id = $1 and day = ${day}`,
    ["daily_spend item_count -1"],
  ],
  [
    "the unpriced of a day",
    () => `update public.daily_spend set unpriced_count = 7 where workspace_id = $1 and day = ${day}`,
    ["daily_spend unpriced_count 7"],
  ],
  [
    "a day's row that is gone",
    () => `delete from public.daily_spend where workspace_id = $1 and day = ${day}`,
    ["daily_spend amount_usd -2", "daily_spend message_count -1", "daily_spend item_count -1"],
  ],
  [
    "a day's row of nothing, in a month without messages",
    () =>
      `insert into public.daily_spend select workspace_id, '1999-12-31', project_id, api_key_id, type, provider, model, feature, source, environment, 5, 1, 1, 0 from public.daily_spend where workspace_id = $1 and day = ${day}`,
    ["daily_spend amount_usd 5", "daily_spend message_count 1", "daily_spend item_count 1"],
  ],
  [
    "a day's dimension",
    () => `update public.daily_spend set feature = 'search' where workspace_id = $1 and day = ${day}`,
    [
      "daily_spend amount_usd -2",
      "daily_spend message_count -1",
      "daily_spend item_count -1",
      "daily_spend amount_usd 2",
      "daily_spend message_count 1",
      "daily_spend item_count 1",
    ],
  ],
  [
    "a day's total by one dimension",
    () =>
      `update public.daily_totals set amount_usd = amount_usd + 1e-18
       where workspace_id = $1 and dimension = 'feature' and value = 'chat' and day = ${day}`,
    ["daily_totals amount_usd 0.000000000000000001"],
    { day: "2026-02-14", feature: "chat", type: "usage", environment: "live" },
  ],
  [
    "the messages and the unpriced of a day's total",
    () =>
      `update public.daily_totals set message_count = 5, unpriced_count = 7
       where workspace_id = $1 and dimension = 'project' and type = 'usage' and day = ${day}`,
    ["daily_totals message_count 4", "daily_totals unpriced_count 7"],
  ],
  [
    "a day's totals that are gone",
    () => `delete from public.daily_totals where workspace_id = $1 and dimension = 'model' and day = ${day}`,
    ["daily_totals amount_usd -2", "daily_totals message_count -1"],
  ],
  [
    "a total of nothing, in a month without messages",
    () =>
      `insert into public.daily_totals values ($1, 'live', 'provider', '1999-12-31', 'nobody', 'usage', 5, 1, 0)`,
    ["daily_totals amount_usd 5", "daily_totals message_count 1"],
  ],
  [
    "what a subscription covers on a day",
    () =>
      "update public.daily_spend set included_usd = included_usd - 0.1 where workspace_id = $1 and end_user = 'bo'",
    ["daily_spend included_usd -0.1"],
    {
      day: "2026-02-16",
      project: "alpha",
      key: "Test key",
      type: "usage",
      provider: "p",
      model: "m",
      feature: "chat",
      source: "api",
      environment: "live",
      user: "bo",
    },
  ],
  [
    "a day's row of a person that is gone",
    () => "delete from public.daily_spend where workspace_id = $1 and end_user = 'bo'",
    ["daily_spend message_count -1", "daily_spend item_count -1", "daily_spend included_usd -0.7"],
  ],
  [
    "the tags of a day's row",
    () =>
      "update public.daily_spend set tags = '{team:growth}' where workspace_id = $1 and end_user = 'anna@example.com'",
    [
      "daily_spend amount_usd -1.5",
      "daily_spend message_count -1",
      "daily_spend item_count -1",
      "daily_spend amount_usd 1.5",
      "daily_spend message_count 1",
      "daily_spend item_count 1",
    ],
  ],
  [
    "what a subscription covers of a day's total",
    () =>
      "update public.daily_totals set included_usd = 0 where workspace_id = $1 and dimension = 'provider' and included_usd > 0",
    ["daily_totals included_usd -0.7"],
    { day: "2026-02-16", provider: "p", type: "usage", environment: "live" },
  ],
  [
    "a day's total of a person that is gone",
    () => "delete from public.daily_totals where workspace_id = $1 and dimension = 'user' and value = 'bo'",
    ["daily_totals message_count -1", "daily_totals included_usd -0.7"],
    { day: "2026-02-16", user: "bo", type: "usage", environment: "live" },
  ],
  [
    "a day's total of a tag",
    () =>
      "update public.daily_totals set amount_usd = 0 where workspace_id = $1 and dimension = 'tag' and value = 'team:growth'",
    ["daily_totals amount_usd -1.5"],
  ],
  [
    "a total of a tag that no message has",
    () =>
      "insert into public.daily_totals values ($1, 'live', 'tag', '2026-02-16', 'team:none', 'usage', 5, 1, 0)",
    ["daily_totals amount_usd 5", "daily_totals message_count 1"],
    { day: "2026-02-16", tag: "team:none", type: "usage", environment: "live" },
  ],
  [
    "a total of spend of nobody, which has no row",
    () => `insert into public.daily_totals values ($1, 'live', 'user', ${day}, null, 'usage', 2, 1, 0)`,
    ["daily_totals amount_usd 2", "daily_totals message_count 1"],
  ],
  [
    "what a key spent",
    () => "update public.key_spend set amount_usd = amount_usd - 0.01 where workspace_id = $1",
    ["key_spend amount_usd -0.01"],
    { month: new Date().toISOString().slice(0, 7), key: "Test key" },
  ],
  [
    "how many messages a key recorded",
    () => "update public.key_spend set message_count = message_count + 1 where workspace_id = $1",
    ["key_spend message_count 1"],
  ],
  [
    "a key's month that is gone",
    () => "delete from public.key_spend where workspace_id = $1",
    ["key_spend amount_usd", "key_spend message_count -8"],
  ],
  [
    "one side of an allocation",
    ({ ids }) =>
      `update public.messages set amount_usd = -0.3 where workspace_id = $1 and id = '${ids.allocation}' and part = 1`,
    ["daily_spend amount_usd -0.1", "key_spend amount_usd -0.1", "posting amount_usd 0.1"],
  ],
  [
    "an allocation's other side that is gone",
    ({ ids }) =>
      `delete from public.messages where workspace_id = $1 and id = '${ids.allocation}' and part = 1`,
    [
      "daily_spend amount_usd -0.4",
      "daily_spend item_count 1",
      "key_spend amount_usd -0.4",
      "posting parts -1",
      "posting amount_usd 0.4",
    ],
  ],
  [
    "a month of a yearly subscription",
    ({ ids }) =>
      `update public.messages set amount_usd = amount_usd + 1 where workspace_id = $1 and id = '${ids.subscription}' and part = 11`,
    ["daily_spend amount_usd -1", "key_spend amount_usd -1", "posting amount_usd 1"],
  ],
  [
    "two months of a yearly subscription that make up for each other",
    ({ ids }) =>
      `update public.messages set amount_usd = amount_usd + case part when 3 then 1 else -1 end where workspace_id = $1 and id = '${ids.subscription}' and part in (3, 4)`,
    ["daily_spend amount_usd -1", "daily_spend amount_usd 1", "posting amount_usd shares"],
  ],
  [
    "a month of a yearly subscription that is gone",
    ({ ids }) =>
      `delete from public.messages where workspace_id = $1 and id = '${ids.subscription}' and part = 1`,
    [
      "daily_spend amount_usd",
      "daily_spend item_count 1",
      "key_spend amount_usd",
      "posting parts -1",
      "posting amount_usd",
    ],
  ],
  [
    "an expense beside its rate",
    ({ ids }) =>
      `update public.messages set amount_usd = amount_usd + 0.01 where workspace_id = $1 and id = '${ids.expense}'`,
    ["daily_spend amount_usd -0.01", "key_spend amount_usd -0.01", "posting amount_usd 0.01"],
  ],
  [
    "an answer to a message that is not there",
    () => "update private.idempotency set message_id = gen_random_uuid() where workspace_id = $1",
    ["idempotency message 1"],
    { key: "kept" },
  ],
];

/** A corruption of a batch's lines, which the sums follow where nothing says what the line was; what stays after that. */
export const corruptedLines: [name: string, statement: string, found: string[], left: string[]][] = [
  [
    "the amount of a line",
    "update public.messages set amount_usd = 0.5 where workspace_id = $1 and id = $2 and part = 0",
    ["daily_spend amount_usd -0.25", "key_spend amount_usd -0.25", "lines amount_usd -0.25"],
    [],
  ],
  [
    "whether a line is priced",
    "update public.messages set cost_status = 'client' where workspace_id = $1 and id = $2 and part = 1",
    ["daily_spend unpriced_count 1"],
    [],
  ],
  [
    "the last line that is gone",
    "delete from public.messages where workspace_id = $1 and id = $2 and part = 1",
    ["daily_spend item_count 1", "daily_spend unpriced_count 1"],
    [],
  ],
  [
    "a line before the last that is gone",
    "delete from public.messages where workspace_id = $1 and id = $2 and part = 0",
    [
      "daily_spend amount_usd 0.25",
      "daily_spend message_count 1",
      "daily_spend item_count 1",
      "key_spend amount_usd 0.25",
      "key_spend message_count 1",
      "posting parts -1",
    ],
    ["posting parts -1"],
  ],
];
