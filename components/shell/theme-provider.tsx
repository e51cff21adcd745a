"use client";

import { HeadManagerContext } from "next/dist/shared/lib/head-manager-context.shared-runtime";
import { ThemeProvider as NextThemes } from "next-themes";
import { type ReactNode, useContext } from "react";

/**
 * Light, dark or the system's own; set on <html> before the first paint, by an inline script. That script needs the nonce
 * of the page's Content-Security-Policy, which is taken from where `next/script` takes it: `headers()` would keep every
 * page from being prerendered. A prerendered page has none; its scripts are allowed by their hashes.
 */
export function ThemeProvider({ children }: { children: ReactNode }) {
  const { nonce } = useContext(HeadManagerContext) as { nonce?: string };
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
