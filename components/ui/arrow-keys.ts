const axes = {
  vertical: { ArrowDown: 1, ArrowUp: -1 },
  horizontal: { ArrowRight: 1, ArrowLeft: -1 },
} satisfies Record<string, Record<string, 1 | -1>>;

/**
 * Returns the index that a key moves to in a list, for everything that arrow keys move through: listboxes, menus, tabs,
 * rows and the bars of a chart.
 * @param index the current index; -1 if nothing is current: the down arrow then enters the list at its start, the up arrow at its end
 * @param options.wraps true to continue at the other end of the list
 * @param options.hasEnds true when Home and End go to the first and last item; a text field keeps these keys for its caret
 * @returns undefined when the key does not move: another key, an empty list, or the end of a list that does not wrap
 */
export function indexAfterKey(
  key: string,
  index: number,
  count: number,
  { axis = "vertical", wraps = false, hasEnds = false }: ArrowKeyOptions = {},
): number | undefined {
  if (count === 0) return undefined;
  if (hasEnds && key === "Home") return 0;
  if (hasEnds && key === "End") return count - 1;
  const steps: Record<string, 1 | -1> = axes[axis];
  const step = steps[key];
  if (step === undefined) return undefined;
  if (index < 0) return step > 0 ? 0 : count - 1;
  const next = index + step;
  if (wraps) return (next + count) % count;
  return next < 0 || next >= count ? undefined : next;
}

export type ArrowKeyOptions = { axis?: keyof typeof axes; wraps?: boolean; hasEnds?: boolean };
