import type { AddressChange } from "@/lib/access/sign-in/callback";

const outcomes: Record<AddressChange, string> = {
  half: "One of the two addresses is confirmed. Open the link in the other mail as well.",
  done: "Your e-mail address is changed.",
  failed: "This link has been used or is too old, or the address is somebody else's by now.",
};

/** What a link that confirms a new address came to, in words. @param change as it stands in a page's address, if it does */
export function explainAddressChange(change: string | undefined): string | undefined {
  return new Map(Object.entries(outcomes)).get(change ?? "");
}
