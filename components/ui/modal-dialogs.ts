const open: HTMLDialogElement[] = [];
const listeners = new Set<() => void>();

/**
 * Opens a dialog as a modal one, with the focus on its element with `data-first-focus`, else on its first field or button. When its
 * content is replaced and the focused element with it, the title gets the focus.
 * @returns closes it, which returns the focus to where it was
 */
export function openModal(dialog: HTMLDialogElement): () => void {
  dialog.showModal();
  dialog.querySelector<HTMLElement>("[data-first-focus]")?.focus();
  open.push(dialog);
  const endWatch = keepFocusIn(dialog);
  return () => {
    endWatch();
    open.splice(open.indexOf(dialog), 1);
    for (const listener of listeners) listener();
    dialog.close();
  };
}

/** Focuses the title of a dialog whenever its focused element is removed while it is on top. @returns stops that */
function keepFocusIn(dialog: HTMLDialogElement): () => void {
  let focused = document.activeElement;
  const follow = ({ target }: FocusEvent) => {
    focused = target as Element;
  };
  dialog.addEventListener("focusin", follow);
  const observer = new MutationObserver(() => {
    // A disabled button loses the focus too, but it stays where it is, and so does the place that Tab goes on from.
    const isLost = document.activeElement === document.body && focused?.isConnected === false;
    const title = document.getElementById(dialog.getAttribute("aria-labelledby") ?? "");
    if (!isLost || topModal() !== dialog || !title) return;
    title.tabIndex = -1;
    title.focus();
  });
  observer.observe(dialog, { childList: true, subtree: true });
  return () => {
    observer.disconnect();
    dialog.removeEventListener("focusin", follow);
  };
}

/** The modal dialog on top: nothing outside of it can be used. */
export const topModal = (): HTMLDialogElement | undefined => open.at(-1);

/** Calls a listener before a modal dialog is closed, when it is no longer the one on top. @returns stops that */
export function onModalClose(listener: () => void): () => void {
  listeners.add(listener);
  return () => {
    listeners.delete(listener);
  };
}
