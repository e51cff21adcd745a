import { TextField } from "@/components/ui/form-field";
import { codeField } from "./second-factor";

/** A field for the code of an authenticator app, which takes the focus. */
export function AppCodeField() {
  return (
    <TextField
      label="Code"
      description="The six digits that the app shows now."
      {...codeField}
      autoFocus
      className="max-w-40 font-mono"
    />
  );
}
