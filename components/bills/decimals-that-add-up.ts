import { isRoundedSum } from "@/components/figures/exact";

/** The decimal places that dollars are shown with. */
const usual = 2;

/** The most decimal places that an amount has. */
const most = 18;

/**
 * The decimal places with which parts and their whole are shown, so that the shown parts sum to the shown whole: the two of dollars,
 * or as many more as that takes. Rounding each part by itself to cents could leave a cent between them.
 * @param whole exact text
 * @param parts exact texts that sum to it
 */
export function decimalsThatAddUp(whole: string, parts: readonly string[]): number {
  let decimals = usual;
  while (decimals < most && !isRoundedSum(whole, parts, decimals)) decimals += 1;
  return decimals;
}
