import { ExactNumber } from "@/lib/contract/values/exact-number";
import { type Decimal, toText } from "@/lib/decimal";

/** Converts a decimal to a JSON number with all its digits. */
export function toExact(value: Decimal): ExactNumber {
  return new ExactNumber(toText(value));
}
