/** An option of a combobox. `hint` is shown beside the label. */
export type Option = { value: string; label: string; hint?: string };
