/** A button of a notice, such as "Undo". */
export type ToastAction = { label: string; run: () => void };

/** A notice. A problem stays until the user closes it. */
export type Toast = { id: number; text: string; isProblem: boolean; action?: ToastAction };
