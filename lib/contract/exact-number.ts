/**
 * A JSON number with more digits than a double holds, kept as the text it was written in. What money and quantities
 * travel as between the wire and the decimals of the code: neither way through a float.
 */
export class ExactNumber {
  /** @param text plain or exponent notation, as JSON writes a number. */
  constructor(readonly text: string) {}

  /** Where somebody does stringify it, a plain number is the closest thing. */
  toJSON(): number {
    return Number(this.text);
  }
}
