/**
 * Makes a free name by adding a number if the wanted one is taken: "API key", "API key 2".
 * @param taken the names of the same kind in the workspace
 * @param maxLength the most characters of a name; a longer one is cut
 */
export function freeName(wanted: string, taken: readonly string[], maxLength = 120): string {
  for (let number = 1; ; number += 1) {
    const suffix = number === 1 ? "" : ` ${number}`;
    const name = [...wanted].slice(0, maxLength - suffix.length).join("") + suffix;
    if (!taken.includes(name)) return name;
  }
}
