import { shippedBook, shippedSources } from "./history";
import { bookOf, type DayRates, type RateBook, type RateSeries } from "./rate-book";

/** The rates that this process converts at: those that ship with it, and after them what the service has fetched. */
let present: RateBook = shippedBook;

/** The rates of now. */
export function presentRates(): RateBook {
  return present;
}

/** Adds fetched rates to those that ship. A day that ships stays as it is. @param fetched everything that was fetched */
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
