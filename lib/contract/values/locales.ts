/**
 * The locales in which numbers and dates can be written, BCP 47 tags with the names that pages show. The first of a language is
 * used for its regions that are not listed. Languages written from right to left are not supported, because the pages are in
 * English, from left to right.
 */
export const localeNames = {
  "en-US": "English (United States)",
  "en-GB": "English (United Kingdom)",
  "en-AU": "English (Australia)",
  "en-CA": "English (Canada)",
  "en-IE": "English (Ireland)",
  "en-IN": "English (India)",
  "en-NZ": "English (New Zealand)",
  "en-ZA": "English (South Africa)",
  "bg-BG": "Bulgarian",
  "ca-ES": "Catalan",
  "cs-CZ": "Czech",
  "da-DK": "Danish",
  "de-DE": "German (Germany)",
  "de-AT": "German (Austria)",
  "de-CH": "German (Switzerland)",
  "el-GR": "Greek",
  "es-ES": "Spanish (Spain)",
  "es-AR": "Spanish (Argentina)",
  "es-MX": "Spanish (Mexico)",
  "et-EE": "Estonian",
  "fi-FI": "Finnish",
  "fr-FR": "French (France)",
  "fr-CA": "French (Canada)",
  "fr-CH": "French (Switzerland)",
  "hi-IN": "Hindi",
  "hr-HR": "Croatian",
  "hu-HU": "Hungarian",
  "id-ID": "Indonesian",
  "it-IT": "Italian (Italy)",
  "it-CH": "Italian (Switzerland)",
  "ja-JP": "Japanese",
  "ko-KR": "Korean",
  "lt-LT": "Lithuanian",
  "lv-LV": "Latvian",
  "nb-NO": "Norwegian",
  "nl-NL": "Dutch (Netherlands)",
  "nl-BE": "Dutch (Belgium)",
  "pl-PL": "Polish",
  "pt-BR": "Portuguese (Brazil)",
  "pt-PT": "Portuguese (Portugal)",
  "ro-RO": "Romanian",
  "ru-RU": "Russian",
  "sk-SK": "Slovak",
  "sl-SI": "Slovenian",
  "sv-SE": "Swedish",
  "th-TH": "Thai",
  "tr-TR": "Turkish",
  "uk-UA": "Ukrainian",
  "vi-VN": "Vietnamese",
  "zh-CN": "Chinese (China)",
  "zh-TW": "Chinese (Taiwan)",
} as const;

export type Locale = keyof typeof localeNames;

export const locales = Object.keys(localeNames) as Locale[];

export const defaultLocale: Locale = "en-US";

/** Other names of languages that browsers send. */
const sameLanguage: Record<string, string> = { no: "nb", nn: "nb" };

/** The longest Accept-Language that is read; browsers send fewer than 100 characters. */
const maxLength = 500;

/**
 * The locale for a browser's Accept-Language (RFC 9110): the most preferred language that is listed, with its region if that is
 * listed, too.
 * @param header the header's value; null if there is none
 */
export function acceptedLocale(header: string | null): Locale {
  const ranges = (header ?? "").slice(0, maxLength).split(",");
  const preferred = ranges
    .map((range) => {
      const [tag = "", ...parameters] = range.split(";").map((part) => part.trim());
      const weight = parameters.find((parameter) => parameter.startsWith("q="))?.slice(2) ?? "1";
      return { tag: tag.toLowerCase(), weight: Number(weight) };
    })
    .filter(({ tag, weight }) => /^[a-z]{2,3}(-[a-z0-9]{2,8})*$/.test(tag) && weight > 0)
    .sort((a, b) => b.weight - a.weight);
  for (const { tag } of preferred) {
    const found = matchLocale(tag);
    if (found) return found;
  }
  return defaultLocale;
}

/** @param tag in lower case: `de`, `de-at`, `zh-hant-tw` */
function matchLocale(tag: string): Locale | undefined {
  const [given = "", ...rest] = tag.split("-");
  const language = sameLanguage[given] ?? given;
  const regions = [rest.find((part) => part.length === 2), rest.includes("hant") ? "tw" : undefined];
  const ofLanguage = locales.filter((each) => each.startsWith(`${language}-`));
  const ofRegion = regions.map((region) =>
    ofLanguage.find((each) => each.toLowerCase() === `${language}-${region}`),
  );
  return ofRegion.find((each) => each !== undefined) ?? ofLanguage[0];
}
