import { currentReader } from "#reader";
import { defaultLocale, type Locale } from "@/lib/contract/values/locales";

/** The locale of who reads the page. */
export const readerLocale = (): Locale => currentReader().locale;

/** The time zone of the workspace whose page is read; UTC elsewhere. */
export const readerZone = (): string => currentReader().timeZone;

/** Whether the reader's locale is one of English, the language of the pages: others get figures without words. */
export const isEnglish = (locale: Locale): boolean => locale.startsWith("en-");

/**
 * Keeps what is made for each locale, because making an `Intl` format takes much longer than using it.
 * @param make makes the value of a locale. The locale has Latin digits and the Gregorian calendar, as the rest of a page has
 * @returns the function that gives the value of the current reader's locale
 */
export function byLocale<Value>(make: (tag: string, locale: Locale) => Value): () => Value {
  return keep(
    (locale) => make(tagOf(locale), locale),
    () => "",
  );
}

/** Like `byLocale`, for what depends on the time zone of the workspace, too. */
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
 * Like `byLocale`, for what is written in words: in the reader's English, otherwise in that of the pages, which is American.
 */
export function byEnglish<Value>(make: (tag: string) => Value): () => Value {
  return byLocale((tag, locale) => make(isEnglish(locale) ? tag : defaultLocale));
}
