// Loaded before a program (`node --import`): its clock is wrong by TEST_CLOCK_SHIFT_MS, as that of a machine may be.
const shiftMs = Number(process.env.TEST_CLOCK_SHIFT_MS);
const RealDate = Date;

globalThis.Date = class ShiftedDate extends RealDate {
  constructor(...given) {
    super(...(given.length === 0 ? [RealDate.now() + shiftMs] : given));
  }
  // Copies of the constructor are made that have its own functions alone.
  static UTC = RealDate.UTC;
  static parse = RealDate.parse;
  static now() {
    return RealDate.now() + shiftMs;
  }
};
