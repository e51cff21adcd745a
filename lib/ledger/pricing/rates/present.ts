import { shippedRates, shippedSources } from "./history";
import { type DayRates, type RateSeries, type RateTable, rateTableOf } from "./rate-table";

/** The rates at which this process converts: the shipped ones, followed by those that the service has fetched. */
let present: RateTable = shippedRates;

/** The rates at which this process converts now. */
export function presentRates(): RateTable {
  return present;
}

/** Replaces the fetched rates, which follow the shipped ones. Shipped days do not change. @param fetched all fetched rates */
export function setFetchedRates(fetched: readonly DayRates[]): void {
  const tables = shippedSources.map(({ source, to }) =>
    rateTableOf(fetched.filter((each) => each.source === source && each.day > to)),
  );
  const known = new Map<string, RateSeries[][]>();
  present = {
    seriesOf(currency) {
      const shipped = shippedRates.seriesOf(currency);
      const found =
        known.get(currency) ??
        shipped.map((parts, index) => [...parts, ...(tables[index]?.seriesOf(currency).flat() ?? [])]);
      known.set(currency, found);
      return found;
    },
  };
}
