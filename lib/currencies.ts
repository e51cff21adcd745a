/*
 * Currencies of ISO 4217 by their number of decimals, without metals, funds, units of account and test codes (list one of 2024-06-25, with
 * the amendments to 2025: XCG is added; ANG and BGN, replaced in 2025 and 2026, are kept for earlier expenses). The npm package
 * `currency-codes` is not used, because it lacks XCG and depends on two abandoned packages.
 */
const byDecimals: Record<number, string> = {
  0: "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX VND VUV XAF XOF XPF",
  2: `AED AFN ALL AMD ANG AOA ARS AUD AWG AZN BAM BBD BDT BGN BMD BND BOB BRL BSD BTN BWP BYN BZD CAD CDF CHF CNY COP CRC CUP
    CVE CZK DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GTQ GYD HKD HNL HTG HUF IDR ILS INR IRR JMD KES KGS KHR
    KPW KYD KZT LAK LBP LKR LRD LSL MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MYR MZN NAD NGN NIO NOK NPR NZD PAB PEN
    PGK PHP PKR PLN QAR RON RSD RUB SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TOP TRY TTD TWD
    TZS UAH USD UYU UZS VED VES WST XCD XCG YER ZAR ZMW ZWG`,
  3: "BHD IQD JOD KWD LYD OMR TND",
};

/** ISO 4217 code → decimals of its smaller unit: USD 2, JPY 0, KWD 3. */
export const currencyDecimals: ReadonlyMap<string, number> = new Map(
  Object.entries(byDecimals).flatMap(([decimals, codes]) =>
    codes.split(/\s+/).map((code) => [code, Number(decimals)] as const),
  ),
);

/** Whether a text is a supported currency: an ISO 4217 code in capitals. */
export function isCurrency(code: string): boolean {
  return currencyDecimals.has(code);
}

/** Every supported currency, in alphabetical order. */
export function listCurrencies(): string[] {
  return [...currencyDecimals.keys()].sort();
}
