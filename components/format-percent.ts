/** A fraction as a whole percentage, rounded down where up would reach a hundred that is not there yet. */
export function formatPercent(fraction: string): string {
  const percent = Number(fraction) * 100;
  const whole = percent < 100 ? Math.min(Math.round(percent), 99) : Math.round(percent);
  return `${whole} %`;
}
