"use client";

import { BookOpen, ChevronsUpDown, CircleUser, LogOut } from "lucide-react";
import { startTransition } from "react";
import {
  DropdownMenu,
  DropdownMenuContent,
  DropdownMenuItem,
  DropdownMenuLabel,
  DropdownMenuLink,
  DropdownMenuSeparator,
  DropdownMenuTrigger,
} from "@/components/ui/dropdown-menu";
import { themeChoices, useThemeChoice } from "./use-theme-choice";

/** Who is signed in, the theme, and the way out. */
export function AccountMenu({
  workspace,
  name,
  email,
  signOut,
}: {
  workspace: string;
  name: string;
  email: string;
  signOut: () => Promise<void>;
}) {
  const { theme, setTheme } = useThemeChoice();
  return (
    <DropdownMenu>
      <DropdownMenuTrigger
        variant="ghost"
        aria-label={`Account of ${name}`}
        className="h-10 w-full justify-start gap-2.5 px-2 hover:bg-sidebar-accent"
      >
        <span
          aria-hidden="true"
          className="flex size-6 shrink-0 items-center justify-center rounded-full bg-secondary font-medium text-xs"
        >
          {name.charAt(0).toUpperCase()}
        </span>
        <span className="min-w-0 flex-1 truncate text-left font-normal">{name}</span>
        <ChevronsUpDown aria-hidden="true" className="size-3.5 text-muted-foreground" />
      </DropdownMenuTrigger>
      <DropdownMenuContent aria-label="Account" place="top-start" className="w-56">
        <DropdownMenuLabel>{email}</DropdownMenuLabel>
        <DropdownMenuSeparator />
        {themeChoices.map(({ value, label }) => (
          <DropdownMenuItem key={value} checked={theme === value} onSelect={() => setTheme(value)}>
            {label}
          </DropdownMenuItem>
        ))}
        <DropdownMenuSeparator />
        <DropdownMenuLink href={`/${workspace}/settings/account`}>
          <CircleUser aria-hidden="true" />
          Your account
        </DropdownMenuLink>
        <DropdownMenuLink href="/docs" isFile>
          <BookOpen aria-hidden="true" />
          API reference
        </DropdownMenuLink>
        <DropdownMenuItem onSelect={() => startTransition(signOut)}>
          <LogOut aria-hidden="true" />
          Sign out
        </DropdownMenuItem>
      </DropdownMenuContent>
    </DropdownMenu>
  );
}
