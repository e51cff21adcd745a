"use client";

import { useTheme } from "next-themes";
import { useSyncExternalStore } from "react";

const never = () => () => {};

/** The themes to choose from. */
export const themeChoices = [
  { value: "light", label: "Light" },
  { value: "dark", label: "Dark" },
  { value: "system", label: "As the system" },
];

/** The chosen theme, unknown until the page is awake: the server cannot know it. */
export function useThemeChoice(): { theme: string | undefined; setTheme: (theme: string) => void } {
  const { theme, setTheme } = useTheme();
  const isAwake = useSyncExternalStore(
    never,
    () => true,
    () => false,
  );
  return { theme: isAwake ? theme : undefined, setTheme };
}
