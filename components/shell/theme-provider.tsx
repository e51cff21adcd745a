"use client";

import { ThemeProvider as NextThemes } from "next-themes";
import type { ReactNode } from "react";

/**
 * Sets the theme on `<html>` before the first paint, with an inline script: light, dark, or the system's.
 * @param props.nonce nonce of the page's Content-Security-Policy, which allows the script
 */
export function ThemeProvider({ nonce, children }: { nonce?: string | undefined; children: ReactNode }) {
  return (
    <NextThemes
      attribute="class"
      defaultTheme="system"
      enableSystem
      disableTransitionOnChange
      {...(nonce !== undefined && { nonce })}
    >
      {children}
    </NextThemes>
  );
}
