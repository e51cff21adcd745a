/** Whether the command palette is open. It is outside React, because its keys and several buttons change it. */
let isOpen = false;
const listeners = new Set<() => void>();

/** The arguments of useSyncExternalStore. */
export const paletteState = {
  subscribe: (listener: () => void) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  },
  read: () => isOpen,
  onServer: () => false,
};

/** Opens the command palette, or closes it. */
export function setPalette(open: boolean): void {
  isOpen = open;
  for (const listener of listeners) listener();
}
