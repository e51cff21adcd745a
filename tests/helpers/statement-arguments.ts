// Arguments for the functions of the service that query the database, so that each of their statements is built.

/** A value for any argument: it has every property, can be called, and converts to text. */
export const anything: unknown = new Proxy(() => "", {
  get: (_, name) => {
    if (name === Symbol.toPrimitive) return () => "x";
    if (name === "toJSON") return () => ({});
    if (name === "then" || name === Symbol.iterator) return undefined;
    return anything;
  },
  apply: () => anything,
});

const january = { from: "2026-01-01", until: "2026-02-01" };
const comparison = (foldedUntil: string | null) => ({
  workspaceId: "w",
  environment: "live",
  range: january,
  before: { from: "2025-12-01", until: "2025-12-15" },
  foldedUntil,
});

/** The same of a part of the spend. */
const partly = () => ({ ...comparison("2026-01-20"), filters: everyFilter(), cut: cutDay(false) });

const cutDay = (isEstimate: boolean) => ({
  workspaceId: "w",
  environments: ["live"],
  day: "2026-01-05",
  at: Date.parse("2026-01-05T12:00:00Z"),
  isEstimate,
});

/** A list of one kind, with and without days to compare with. */
const subjectsOf = (dimension: string, more: object) => [
  {
    workspaceId: "w",
    environment: "live",
    dimension,
    spent: january,
    before: undefined,
    cut: undefined,
    foldedUntil: null,
    ...more,
  },
  10,
];

/** Arguments of query functions, by name, whose statement depends on them, or that need an array. Others get `anything`. */
export const given: Record<string, unknown[][]> = {
  loadReportedMessages: [[[{ workspaceId: "w", id: "x", atUs: 1 }]]],
  selectActivity: [
    ["w", {}, { from: "2026-01-01", until: "infinity", timeZone: "UTC" }, { sort: "-time" }, 10],
    [
      "w",
      { ...everyFilter(), cost_status: "unpriced", session: "x", emitter: "x", q: "x" },
      { from: "-infinity", until: "2026-01-01" },
      {
        sort: "-amount",
        after: { at: "x", id: "x", part: 0, value: "1" },
        notBefore: "2026-01-01",
        among: 50,
      },
      10,
    ],
    [
      "w",
      {
        key: null,
        provider: null,
        model: null,
        feature: null,
        user: null,
        tag: null,
        session: null,
        emitter: null,
      },
      { from: "2026-01-01", until: "x" },
      { sort: "quantity" },
      1,
    ],
  ],
  selectSessions: [
    ["w", { sort: "-amount" }, { from: "2026-01-01", until: "infinity", timeZone: "UTC" }, undefined, 10],
    [
      "w",
      { ...everyFilter(), sort: "-time", emitter: "x", session: "x" },
      { from: "-infinity", until: "2026-01-01" },
      { value: "x", session: "x" },
      10,
    ],
  ],
  selectEntries: [
    ["w", { status: "open" }, { after: null, atMost: 10 }],
    ["w", { status: "snoozed", assignee: "nobody" }, { after: { number: "1" }, atMost: 10 }],
    ["w", { status: "resolved", assignee: "x" }, { after: null, atMost: 10 }],
    ["w", { status: "all" }, { after: null, atMost: 10 }],
  ],
  selectPlaceAhead: [
    ["w", {}, { from: "2026-01-01", until: "infinity", timeZone: "Asia/Kolkata" }, { sort: "-amount" }, 10],
  ],
  selectMessageCount: [
    ["w", { project: "x" }, [{ dimension: "model", value: "x" }], { from: "2026-01-01", until: "infinity" }],
  ],
  selectWeek: [
    [
      { id: "w", timeZone: "Asia/Kolkata" },
      { week: { from: 7 * 86_400_000, until: 14 * 86_400_000 }, before: { from: 0, until: 7 * 86_400_000 } },
      3,
    ],
    [
      "w",
      {
        week: { from: 7 * 86_400_000 + 1, until: 14 * 86_400_000 + 1 },
        before: { from: 1, until: 7 * 86_400_000 + 1 },
      },
      3,
    ],
  ],
  selectLastDay: [
    ["w", {}, [{ dimension: "model" }], { from: "x", until: "x" }],
    [
      "w",
      { environment: "live", type: "usage" },
      [
        { dimension: "key", value: "x" },
        { dimension: "feature", value: null },
      ],
      { from: "x", until: "x" },
    ],
  ],
  selectProjects: [
    ["w", { ...january, today: "2026-01-31", foldedUntil: null }],
    ["w", { ...january, today: "2026-01-31", foldedUntil: "2026-01-20" }, "x"],
    [
      "w",
      { ...january, today: "2026-01-31", foldedUntil: "2026-01-20" },
      null,
      { currency: "EUR", rates: [rateFrom(null), rateFrom("2026-01-01")] },
    ],
  ],
  selectSubjects: [
    subjectsOf("user", {}),
    subjectsOf("project", { before: january, foldedUntil: "2026-01-20" }),
    subjectsOf("tag", { before: january, cut: cutDay(false) }),
    subjectsOf("key", {
      before: january,
      cut: cutDay(true),
      display: { currency: "EUR", rates: [rateFrom(null), rateFrom("2026-01-01")] },
    }),
  ],
  selectProjectBuckets: [
    ["w", january, "day", null],
    ["w", january, "month", "2026-01-20"],
  ],
  selectSegments: [[comparison(null)], [comparison("2026-01-20")], [partly()]],
  selectMovers: [
    [comparison(null), 3],
    [comparison("2026-01-20"), 3],
    [partly(), 3],
  ],
  selectDayAhead: [
    ["w", {}, { from: "x", until: "x" }, 5],
    ["w", { environment: "test", project: "x" }, { from: "x", until: "x" }, 5],
  ],
  updateBudget: [["w", "x", { name: "x", amount: "1", raised_until: null, alert_percents: ["80"] }]],
  selectBudgetStatus: [
    [{ workspaceId: "w", environment: "live" }],
    [{ workspaceId: "w", environment: "live" }, "x"],
  ],
  selectRefused: [
    [{ workspaceId: "w", filters: {} }, january],
    [
      {
        workspaceId: "w",
        filters: { project: "x", key: null, provider: "x", model: null, environment: "live" },
      },
      january,
    ],
  ],
  selectRefusedOfBudgets: [["w"], ["w", "x"]],
  selectTypeTotals: scopes().flatMap((scope) =>
    [undefined, { bucket: "day", groupBy: "key" }, { bucket: "month", groupBy: "type" }].map((series) => [
      scope,
      {
        range: january,
        spent: january,
        before: series && { spent: january, stretch: { days: january, cut: undefined }, aligned: january },
      },
      series,
    ]),
  ),
  selectCutDay: scopes().map((scope) => [scope, cutDay(false)]),
  selectUsage: scopes().map((scope) => [scope, january]),
  selectAllocations: scopes().map((scope) => [scope, january, "day"]),
  selectRecorded: [
    [{ id: "w", timeZone: "UTC" }, "2026-01-01", "2026-02-01", "provider"],
    [{ id: "w", timeZone: "UTC" }, "2026-01-01", "2026-02-01", "model"],
    [{ id: "w", timeZone: "UTC" }, "2026-01-01", "2026-02-01", "user"],
    [{ id: "w", timeZone: "Asia/Kolkata" }, "2026-01-01", "2026-02-01", "provider"],
    [{ id: "w", timeZone: "Asia/Kolkata" }, "2026-01-01", "2026-02-01", "model"],
    [{ id: "w", timeZone: "Asia/Kolkata" }, "2026-01-01", "2026-02-01", "user"],
  ],
  selectBreakdown: scopes().flatMap((scope) =>
    ["type", "project", "key", "user", "tag"].flatMap((groupBy) =>
      [[], [["x", null]]].map((known) => [
        scope,
        anything,
        { bucket: "day", groupBy, maxGroups: 8 },
        ...known,
      ]),
    ),
  ),
  ...selectsOfExplore(),
  selectDiffering: ["key_spend", "posting", "idempotency"].flatMap((kind) => [
    [kind, null],
    [kind, "w"],
  ]),
  selectFirstRows: [
    [
      anything,
      "2026-01-01T12:00:00Z",
      "2026-02-01T12:00:00Z",
      { sort: "-amount", timeZone: "Asia/Kolkata", isOfUsers: false, limit: 1 },
    ],
  ],
  selectSpendSlices: [
    [anything, "2026-01-01T12:00:00Z", "2026-02-01T12:00:00Z", "UTC"],
    [anything, "2026-01-01T12:00:00Z", "2026-01-01T13:00:00Z", "Asia/Kolkata"],
  ],
  loadAdmission: [[{ lookups: [{ by: "hash", value: "x" }] }]],
  lockRoles: [["w", ["x", "y"]]],
  updateKey: [["w", "x", { name: "x", permissions: [], monthly_limit: null, allowed_cidrs: [] }]],
  updateProfile: [
    [
      "x",
      {
        display_name: null,
        avatar_url: null,
        default_workspace_id: "x",
        locale: null,
        shown_currency: "usd",
      },
    ],
  ],
  updateProjectRow: [
    ["w", "x", { name: "x", archived: true }],
    ["w", "x", { archived: false }],
    ["w", "x", {}],
  ],
  loadProjectSpend: [["w", [{}]]],
  applyRepricing: [["w", [{}]]],
};

function selectsOfExplore() {
  const values = ["x", null];
  const filters = ["project", "key", "user", "type", "tag", "tag:team"].flatMap((field) => [
    { field, op: "is", values },
    { field, op: "is_not", values },
    { field, op: "is_not", values: ["x"] },
  ]);
  const range = { from: "2026-01-01", until: "2026-02-01" };
  const scopeOf = (of: unknown[], isOfUsers = false) => ({
    ...{ workspaceId: "w", environment: "all", filters: of, range, isKey: isOfUsers, isOfUsers },
    foldedUntil: "2026-01-15",
  });
  const cells = { measure: "cost", top: 10, maxRows: 5 };
  const ofUser = [{ field: "user", op: "is", values }];
  return {
    countLines: [[scopeOf(filters)], [scopeOf([])]],
    selectFirstDay: [[{ workspaceId: "w", environment: "all", to: "2026-01-31" }]],
    selectCells: [
      [scopeOf([]), { ...cells, kind: "totals", groupBy: [] }],
      [scopeOf(ofUser), { ...cells, kind: "totals", groupBy: ["user", "week"] }],
      [scopeOf([]), { ...cells, kind: "totals", groupBy: ["project"], listed: ["x"] }],
      [scopeOf([]), { ...cells, kind: "totals", groupBy: ["tag:team", "month"] }],
      [scopeOf([]), { ...cells, kind: "totals", groupBy: ["user"], listed: ["x", null] }],
      [scopeOf(filters.slice(0, 3)), { ...cells, kind: "totals", groupBy: ["project", "type"] }],
      [scopeOf(filters), { ...cells, kind: "sums", groupBy: ["key", "tag:team"], measure: "messages" }],
      [scopeOf(ofUser), { ...cells, kind: "sums", groupBy: ["key", "provider"] }],
      [scopeOf(filters), { ...cells, kind: "ledger", groupBy: ["unit", "day"], measure: "tokens" }],
      [scopeOf([], true), { ...cells, kind: "ledger", groupBy: ["environment", "source"] }],
      ...[[rateFrom(null)], [rateFrom(null), rateFrom("2026-01-01")]].flatMap((rates) => [
        [scopeOf([]), { ...cells, kind: "totals", groupBy: ["day"], display: { currency: "EUR", rates } }],
        [
          scopeOf(filters),
          { ...cells, kind: "ledger", groupBy: ["week"], display: { currency: "EUR", rates } },
        ],
      ]),
    ],
  };
}

function everyFilter() {
  const text = { project: "x", type: "usage", environment: "live", provider: "x", model: "x", feature: "x" };
  return { ...text, key: "x", user: "x", tag: "a:x", source: "api" };
}

function rateFrom(from: string | null) {
  return { from, perUsd: "0.9", rateDate: "2026-01-01", source: "test" };
}

function scopes() {
  return [
    { workspaceId: "w", filters: { environment: "live" } },
    { workspaceId: "w", filters: { environment: "live", type: "usage" } },
    { workspaceId: "w", filters: everyFilter() },
    ...[{ environment: "live" }, everyFilter()].map((filters) => ({
      workspaceId: "w",
      filters,
      display: { currency: "EUR", rates: [rateFrom(null), rateFrom("2026-01-01")] },
    })),
  ];
}
