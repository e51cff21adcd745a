import { shippedBook, shippedSources } from "./history";
import { bookOf, type DayRates, type RateBook, type RateSeries } from "./rate-book";

/** The rates at which this process converts: the shipped ones, followed by those that the service has fetched. */
let present: RateBook = shippedBook;

/** The rates at which this process converts now. */
export function presentRates(): RateBook {
  return present;
}

/** Replaces the fetched rates, which follow the shipped ones. Shipped days do not change. @param fetched all fetched rates */
export function setFetchedRates(fetched: readonly DayRates[]): void {
  const books = shippedSources.map(({ source, to }) =>
    bookOf(fetched.filter((each) => each.source === source && each.day > to)),
  );
  const known = new Map<string, RateSeries[][]>();
  present = {
    seriesOf(currency) {
      const shipped = shippedBook.seriesOf(currency);
      const found =
        known.get(currency) ??
        shipped.map((parts, index) => [...parts, ...(books[index]?.seriesOf(currency).flat() ?? [])]);
      known.set(currency, found);
      return found;
    },
  };
}
