/** How long the focus is watched: long enough for the page to be read again and the deleted row to disappear. */
const watchedForMs = 10_000;

const isVisible = (element: HTMLElement) => element.getClientRects().length > 0;

/**
 * The same control of the next row of a list or table, otherwise of the row before. Rows mark the control with `data-row-control`.
 * @returns undefined if the row is the only one
 */
export function controlOfNextRow(control: Element | null): HTMLElement | undefined {
  const list = control?.closest("table, ul, ol, [data-rows]");
  const row = control?.closest("tr, li") ?? null;
  const isOfThisRow = (other: Element) =>
    other !== control && row !== null && other.closest("tr, li") === row;
  const all = [...(list?.querySelectorAll<HTMLElement>("[data-row-control]") ?? [])].filter(
    (each) => isVisible(each) && !isOfThisRow(each),
  );
  const index = all.indexOf(control as HTMLElement);
  return index < 0 ? undefined : (all[index + 1] ?? all[index - 1]);
}

/** The element that gets the focus: the heading of a list, the action of an empty list, or the title of the page. */
function focusPlace(headingId: string): HTMLElement | null {
  const place =
    document.getElementById(headingId) ??
    document.querySelector<HTMLElement>("main [data-empty] :is(a, button)") ??
    document.querySelector<HTMLElement>("main h1");
  if (place?.matches("h1")) place.tabIndex = -1;
  return place;
}

/**
 * Moves the focus away from a row that has been deleted: to the same control of the next row, or to the heading of the list.
 * The row disappears later, when the page has been read again. If the focused element disappears with it, the focus moves on, so
 * that it is never lost.
 * @param headingId id of an element that can have the focus, such as the list's heading. It may disappear with the last row
 * @param next the same control of the next row, if the used control has lost the focus because it was disabled meanwhile
 */
export function focusAfterDeletion(
  headingId: string,
  next: HTMLElement | undefined = controlOfNextRow(document.activeElement),
): void {
  keepFocus(next ?? focusPlace(headingId), () => focusPlace(headingId));
}

/**
 * Moves the focus to what an action resulted in, such as the row of a new request, where the used control is gone or disabled. The page
 * shows the result later, when it has been read again, perhaps as another element than before. If the reader has moved
 * the focus on by then, it stays where it is.
 * @param selector of the result, an element that can have the focus
 */
export function focusResult(selector: string): void {
  const find = () => document.querySelector<HTMLElement>(selector);
  keepFocus(find(), find);
}

/** Focuses an element, and the found one whenever the focus is lost because the focused one disappeared. */
function keepFocus(first: HTMLElement | null, find: () => HTMLElement | null): void {
  let target = first;
  target?.focus();
  const observer = new MutationObserver(() => {
    if (target !== null && document.activeElement === target) return;
    if (document.activeElement === document.body) {
      target = find();
      target?.focus();
    } else observer.disconnect();
  });
  observer.observe(document.body, { childList: true, subtree: true });
  setTimeout(() => observer.disconnect(), watchedForMs);
}
