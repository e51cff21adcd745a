/**
 * The share of each amount. Where none is below zero, it is that of the total, at most 1. Where some are, a total says little (it may
 * even be zero): the share is that of the sum of all amounts without their signs, and has the sign of its amount.
 * @param total of what the amounts are parts of; they may count twice (tags) or leave something out
 * @returns null for each where there is nothing to have a share of
 */
export function sharesOf(amounts: number[], total: number): (number | null)[] {
  const isMixed = total < 0 || amounts.some((amount) => amount < 0);
  const whole = isMixed ? amounts.reduce((sum, amount) => sum + Math.abs(amount), 0) : total;
  return amounts.map((amount) => (whole > 0 ? Math.min(Math.max(amount / whole, -1), 1) : null));
}
