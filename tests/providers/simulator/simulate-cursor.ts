import { type Answer, type Asked, centsText, dayMs, number, type TrueLine } from "./organization";

/** What a plan covers is billed at 0, and its event says what it would have cost. */
const isIncluded = ({ usd, list }: TrueLine) => usd === "0" && list !== undefined;

/** An event of a line, at noon of its day. */
const eventOf = (line: TrueLine) => ({
  timestamp: String(Date.parse(line.day) + dayMs / 2),
  userEmail: line.user ?? null,
  model: line.model,
  kind: isIncluded(line) ? "Included in Business" : "Usage-based",
  maxMode: false,
  isTokenBasedCall: true,
  isChargeable: !isIncluded(line),
  isHeadless: false,
  requestsCosts: 1,
  chargedCents: number(centsText(isIncluded(line) ? (line.list ?? "0") : line.usd)),
  cursorTokenFee: 0,
  tokenUsage: {
    ...{ inputTokens: line.quantity, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 },
    totalCents: number(centsText(line.usd)),
  },
  conversationId: "c",
  serviceAccountName: line.key,
});

/** The latest first, and the window's last millisecond is of it. */
function usageEvents({ organization, body }: Asked): Answer {
  const { startDate, endDate, page = 1, pageSize = 10 } = body as Record<string, number>;
  if (startDate === undefined || endDate === undefined || endDate - startDate > 30 * dayMs)
    return { status: 400, body: { error: "Date range cannot exceed 30 days" } };
  const events = organization.bill
    .map(eventOf)
    .filter(({ timestamp }) => Number(timestamp) >= startDate && Number(timestamp) <= endDate)
    .reverse();
  const size = Math.min(pageSize, organization.pageSize);
  const pages = Math.ceil(events.length / size);
  return {
    status: 200,
    body: {
      totalUsageEventsCount: events.length,
      pagination: {
        ...{ numPages: pages, currentPage: page, pageSize: size },
        ...{ hasNextPage: page < pages, hasPreviousPage: page > 1 },
      },
      usageEvents: events.slice((page - 1) * size, page * size),
      period: { startDate, endDate },
    },
  };
}

function members({ organization }: Asked): Answer {
  const teamMembers = [...organization.seats, { email: "gone@example.com" }].map(({ email }, id) => ({
    ...{ id, name: email, email, role: "member", isRemoved: email.startsWith("gone") },
  }));
  return { status: 200, body: { teamMembers } };
}

/** A row of each member for the first day that is asked for; others would say the same. */
function dailyUse({ organization, body }: Asked): Answer {
  const { startDate, endDate } = body as Record<string, number>;
  const isBetween = (day: string | null) =>
    day !== null && Date.parse(day) >= Number(startDate) && Date.parse(day) <= Number(endDate);
  const data = organization.seats.map(({ email, lastUsed }) => {
    return { date: startDate, email, isActive: isBetween(lastUsed) };
  });
  const pagination = { page: 1, pageSize: 1000, totalPages: 1, hasNextPage: false, hasPreviousPage: false };
  return { status: 200, body: { data, pagination, period: { startDate, endDate } } };
}

/** Cursor's Admin API, as third parties' connectors read it: it has no SDK. */
export const cursorEndpoints: Record<string, (asked: Asked) => Answer> = {
  "/teams/filtered-usage-events": usageEvents,
  "/teams/members": members,
  "/teams/daily-usage-data": dailyUse,
};
