const open: HTMLDialogElement[] = [];
const listeners = new Set<() => void>();

/**
 * Opens a dialog as a modal one, with the focus on its element with `data-first-focus`, else on its first field or button.
 * @returns closes it, which returns the focus to where it was
 */
export function openModal(dialog: HTMLDialogElement): () => void {
  dialog.showModal();
  dialog.querySelector<HTMLElement>("[data-first-focus]")?.focus();
  open.push(dialog);
  return () => {
    open.splice(open.indexOf(dialog), 1);
    for (const listener of listeners) listener();
    dialog.close();
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
