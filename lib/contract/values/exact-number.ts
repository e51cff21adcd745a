/**
 * A JSON number with more digits than a double holds, kept as its text. It carries money and quantities between JSON and the code's
 * decimals without a float.
 */
export class ExactNumber {
  /** @param text plain or exponent notation, as JSON writes a number. */
  constructor(readonly text: string) {}

  /** The plain number that `JSON.stringify` writes, which can lose digits; `writeJson` keeps them. */
  toJSON(): number {
    return Number(this.text);
  }
}

/** An amount in USD with the same amount in another currency, each day converted at its rate. In JSON, it is the amount in USD. */
export class ConvertedNumber extends ExactNumber {
  /** @param converted plain notation */
  constructor(
    text: string,
    readonly converted: string,
  ) {
    super(text);
  }
}
