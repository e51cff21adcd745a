"use client";

import { Moon, Sun } from "lucide-react";
import { useTheme } from "next-themes";
import { Button } from "@/components/ui/button";

/**
 * A button that switches between light and dark. When the chosen theme is the system's, the page follows the system again.
 */
export function ThemeToggle() {
  const { resolvedTheme, systemTheme, setTheme } = useTheme();
  const toggle = () => {
    const next = resolvedTheme === "dark" ? "light" : "dark";
    setTheme(next === systemTheme ? "system" : next);
  };
  // The server does not know the theme, so both icons are rendered and the stylesheet shows one.
  return (
    <Button variant="ghost" size="icon" onClick={toggle} aria-label="Switch between light and dark">
      <Sun className="hidden dark:block" aria-hidden="true" />
      <Moon className="dark:hidden" aria-hidden="true" />
    </Button>
  );
}
