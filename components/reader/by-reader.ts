import { currentReader } from "#reader";
import { defaultLocale, type Locale } from "@/lib/contract/values/locales";

/** The locale of the page's reader. */
export const readerLocale = (): Locale => currentReader().locale;

/** The time zone of the page's workspace; UTC outside of workspaces. */
export const readerZone = (): string => currentReader().timeZone;

/** Whether a locale is English, the language of the pages. In other locales, figures are written without words. */
export const isEnglish = (locale: Locale): boolean => locale.startsWith("en-");

/**
 * Caches a value for each locale, because making an `Intl` format takes much longer than using it.
 * @param make makes the value for a locale. `tag` is the locale with Latin digits and the Gregorian calendar, like the rest of a page
 * @returns a function that returns the value for the current reader's locale
 */
export function byLocale<Value>(make: (tag: string, locale: Locale) => Value): () => Value {
  return keep(
    (locale) => make(tagOf(locale), locale),
    () => "",
  );
}

/** Like `byLocale`, for values that also depend on the time zone of the workspace. */
export function byZone<Value>(make: (tag: string, locale: Locale, timeZone: string) => Value): () => Value {
  return keep((locale, timeZone) => make(tagOf(locale), locale, timeZone), readerZone);
}

const tagOf = (locale: Locale) => `${locale}-u-ca-gregory-nu-latn`;

function keep<Value>(make: (locale: Locale, zone: string) => Value, zoneOf: () => string): () => Value {
  const made = new Map<string, Value>();
  return () => {
    const [locale, zone] = [readerLocale(), zoneOf()];
    const known = made.get(locale + zone);
    if (known !== undefined) return known;
    const value = make(locale, zone);
    made.set(locale + zone, value);
    return value;
  };
}

/**
 * Like `byLocale`, for words: in the reader's English, otherwise in American English, like the pages.
 */
export function byEnglish<Value>(make: (tag: string) => Value): () => Value {
  return byLocale((tag, locale) => make(isEnglish(locale) ? tag : defaultLocale));
}
