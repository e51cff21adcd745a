/** Writes decimal text with a comma after each three digits of the whole part: `1234567.5` → `1,234,567.5`. The digits stay exact. */
export function groupDigits(text: string): string {
  const [whole = "", fraction] = text.split(".");
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ",");
  return fraction === undefined ? grouped : `${grouped}.${fraction}`;
}
