"use client";

import { Moon, Sun } from "lucide-react";
import { useTheme } from "next-themes";
import { Button } from "@/components/ui/button";

/**
 * Turns the page from light to dark and back. Choosing what the system has anyway follows the system again, so that
 * nobody is stuck with a choice made once at night.
 */
export function ThemeToggle() {
  const { resolvedTheme, systemTheme, setTheme } = useTheme();
  const toggle = () => {
    const next = resolvedTheme === "dark" ? "light" : "dark";
    setTheme(next === systemTheme ? "system" : next);
  };
  // Both icons are in the page and the stylesheet shows one: which theme it is, the server cannot know.
  return (
    <Button variant="ghost" size="icon" onClick={toggle} aria-label="Switch between light and dark">
      <Sun className="hidden dark:block" aria-hidden="true" />
      <Moon className="dark:hidden" aria-hidden="true" />
    </Button>
  );
}
