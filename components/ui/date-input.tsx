import type { ComponentProps } from "react";
import { Input } from "./input";

/** An input for a day, `YYYY-MM-DD`, with the browser's calendar. */
export function DateInput(props: Omit<ComponentProps<"input">, "type">) {
  return <Input type="date" {...props} />;
}
