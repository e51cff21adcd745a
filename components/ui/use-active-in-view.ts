import { useEffect } from "react";

/**
 * Scrolls the active option of a list into view whenever another one becomes active. The browser does so for what has the
 * focus; of a combobox that is the line, while `aria-activedescendant` names the option.
 * @param id of the active option's element; undefined where none is active
 */
export function useActiveInView(id: string | undefined): void {
  useEffect(() => {
    if (id !== undefined) document.getElementById(id)?.scrollIntoView({ block: "nearest" });
  }, [id]);
}
