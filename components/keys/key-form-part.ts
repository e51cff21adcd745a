import type { KeyForm } from "./key-form-state";

/** Props of a part of the key form: the values, how to change them, and the errors by the API's paths. */
export type KeyFormPart = {
  form: KeyForm;
  change: (changes: Partial<KeyForm>) => void;
  errors: Record<string, string>;
};
