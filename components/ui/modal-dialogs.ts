const open: HTMLDialogElement[] = [];
const listeners = new Set<() => void>();

function change(next: readonly HTMLDialogElement[]): void {
  open.splice(0, open.length, ...next);
  for (const listener of listeners) listener();
}

/** Opens a dialog as a modal one, with the focus on its element with `data-first-focus`, else its first field or button. @returns closes it, which returns the focus to where it was */
export function openModal(dialog: HTMLDialogElement): () => void {
  dialog.showModal();
  dialog.querySelector<HTMLElement>("[data-first-focus]")?.focus();
  change([...open, dialog]);
  return () => {
    change(open.filter((each) => each !== dialog));
    dialog.close();
  };
}

/** The modal dialog on top: nothing outside of it can be used. */
export const topModal = (): HTMLDialogElement | undefined => open.at(-1);

/** Calls a listener when a modal dialog has been opened, and before one is closed. @returns stops that */
export function onModalChange(listener: () => void): () => void {
  listeners.add(listener);
  return () => {
    listeners.delete(listener);
  };
}
