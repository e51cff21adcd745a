import { ExactNumber } from "@/lib/contract/exact-number";
import { type Decimal, toText } from "./decimal";

/** A decimal as answers have it: a number with every digit. */
export function toExact(value: Decimal): ExactNumber {
  return new ExactNumber(toText(value));
}
