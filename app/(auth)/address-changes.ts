import type { AddressChange } from "@/lib/access/sign-in/callback";

const outcomes: Record<AddressChange, string> = {
  half: "One of the two addresses is confirmed. Open the link in the other mail as well.",
  done: "Your e-mail address is changed.",
  failed: "This link has been used or has expired, or somebody else uses the address now.",
};

/** The outcome of a link that confirms a new address, as text. @param change the parameter `address` of the page; undefined without one */
export function explainAddressChange(change: string | undefined): string | undefined {
  return new Map(Object.entries(outcomes)).get(change ?? "");
}
