import { headers } from "next/headers";
import type { Reader } from "@/components/reader/reader";
import type { CurrentUser, Membership } from "@/lib/contract/access/me";
import { dayOf } from "@/lib/contract/values/instant";
import { acceptedLocale } from "@/lib/contract/values/locales";
import { latestDisplayRate } from "@/lib/ledger/pricing/display-currency";
import { followPublished } from "@/lib/ledger/published/follow";

/**
 * How the person who reads a page of a workspace wants its figures: as their profile says, otherwise by the locale of their
 * browser and in USD.
 */
export async function readerOf(profile: CurrentUser["profile"], workspace: Membership): Promise<Reader> {
  const locale = profile.locale ?? acceptedLocale((await headers()).get("Accept-Language"));
  const { base_currency: currency } = workspace;
  if (profile.shown_currency !== "usd") await followPublished();
  const rate = profile.shown_currency === "usd" ? undefined : latestDisplayRate(currency, dayOf(Date.now()));
  return {
    locale,
    display: rate ? { currency, besideUsd: profile.shown_currency === "both", ...rate } : null,
  };
}
