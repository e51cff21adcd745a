/**
 * A JSON number with more digits than a double holds, kept as the text it was written in. Money and quantities travel
 * in it between the wire and the code's decimals, never as a float.
 */
export class ExactNumber {
  /** @param text plain or exponent notation, as JSON writes a number. */
  constructor(readonly text: string) {}

  /** Converted to a plain number where somebody stringifies it with `JSON.stringify`. */
  toJSON(): number {
    return Number(this.text);
  }
}

/** An amount in USD with what it is in another currency, each day converted at its rate. As JSON it is the amount in USD. */
export class ConvertedNumber extends ExactNumber {
  /** @param converted plain notation */
  constructor(
    text: string,
    readonly converted: string,
  ) {
    super(text);
  }
}
