import type { KeyForm } from "./key-form-state";

/** Props of one part of the key form: the form's state, a way to change it, and the errors by field. */
export type KeyFormPart = {
  form: KeyForm;
  change: (changes: Partial<KeyForm>) => void;
  errors: Record<string, string>;
};
