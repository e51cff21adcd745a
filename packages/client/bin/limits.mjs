// Converts an answer of `GET /api/v1/limits` to a line for a terminal and to a refusal.

const periods = {
  day: " today",
  week: " this week",
  month: " this month",
  quarter: " this quarter",
  year: " this year",
};

/**
 * The limits in an answer of `GET /api/v1/limits`. Amounts become text before the JSON is parsed, because a JavaScript number would
 * lose digits.
 */
export function readLimits(text) {
  const exact = text.replace(/("(?:limit|spent|held|remaining)_usd":)(-?\d[\d.eE+-]*)/g, '$1"$2"');
  const { key, budgets } = JSON.parse(exact);
  return { key, budgets };
}

/** The remaining share. Used for comparison only, so a floating-point number is enough. */
const shareLeft = ({ remaining_usd: left, limit_usd: limit }) => Number(left) / Number(limit);

/** "$3.20 of $20 left today": the limit with the smallest remaining share, among those whose figures the key may read. */
export function describeNearest({ key, budgets }) {
  const own = key.monthly_limit && { ...key.monthly_limit, period: "month" };
  const limits = [...(own ? [own] : []), ...budgets.filter(({ limit_usd: limit }) => limit !== null)];
  const [nearest] = limits.sort((a, b) => shareLeft(a) - shareLeft(b));
  if (!nearest) return "no limit";
  const { limit_usd: limit, remaining_usd: left, period } = nearest;
  return `${dollars(left)} of ${dollars(limit)} left${periods[period] ?? ""}`;
}

/** Formats dollars, without cents if they are zero. Truncates, so that it never shows more than there is. */
function dollars(usd) {
  const format = new Intl.NumberFormat("en-US", {
    ...{ style: "currency", currency: "USD" },
    ...{ trailingZeroDisplay: "stripIfInteger", roundingMode: "trunc" },
  });
  return format.format(usd);
}

/**
 * What refuses everything that costs anything: the key's own limit, or a budget that blocks and certainly counts what is recorded.
 * Null where nothing does.
 * @param named what is known of the usage: the scopes of which the answer has no other budgets
 * @param url of the service
 */
export function refusalOf({ key, budgets }, named, url) {
  const own = key.monthly_limit;
  if (own && own.on_limit !== "record" && isNothing(own.remaining_usd))
    return wording("this API key's monthly limit", own, `${url}/workspaces/ask?key=${key.id}`);
  const scopes = ["global", "key", ...named, ...(key.projects?.length === 1 ? ["project"] : [])];
  const used = budgets.find(
    ({ blocks, scope_type: scope, is_used_up: isUsedUp, remaining_usd: left }) =>
      blocks && scopes.includes(scope) && (isUsedUp || isNothing(left)),
  );
  return used ? wording(`the budget "${used.name}"`, used, `${url}/workspaces/ask?budget=${used.id}`) : null;
}

const isNothing = (left) => left !== null && left !== undefined && !(Number(left) > 0);

function wording(what, { limit_usd: limit, spent_usd: spent, held_usd: held, resets_at: resetsAt }, page) {
  const reserved = Number(held ?? 0) > 0 ? ` and ${dollars(held)} reserved` : "";
  const figures = limit == null ? "" : `: ${dollars(spent)} of ${dollars(limit)} spent${reserved}`;
  const until = new Date(resetsAt).toISOString().slice(0, 16).replace("T", " ");
  return `Outlay: ${what} is used up${figures}. It resets at ${until} UTC. Ask for more: ${page}`;
}
