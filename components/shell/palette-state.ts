/** Whether the command palette is open: asked for by its keys and by the buttons that lead to it. */
let isOpen = false;
const listeners = new Set<() => void>();

/** For useSyncExternalStore. */
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
