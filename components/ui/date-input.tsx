import type { ComponentProps } from "react";
import { Input } from "./input";

/** A calendar day, `YYYY-MM-DD`, with the browser's own calendar. */
export function DateInput(props: Omit<ComponentProps<"input">, "type">) {
  return <Input type="date" {...props} />;
}
