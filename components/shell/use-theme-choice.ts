"use client";

import { useTheme } from "next-themes";
import { useSyncExternalStore } from "react";

const never = () => () => {};

/** The themes that can be chosen. */
export const themeChoices = [
  { value: "light", label: "Light" },
  { value: "dark", label: "Dark" },
  { value: "system", label: "System" },
];

/** The chosen theme, and how to change it. It is undefined until hydration, because the server does not know it. */
export function useThemeChoice(): { theme: string | undefined; setTheme: (theme: string) => void } {
  const { theme, setTheme } = useTheme();
  const isHydrated = useSyncExternalStore(
    never,
    () => true,
    () => false,
  );
  return { theme: isHydrated ? theme : undefined, setTheme };
}
