"use client";

import { BookOpen, ChevronsUpDown, CircleUser, LogOut, Wallet } from "lucide-react";
import { startTransition } from "react";
import { Avatar } from "@/components/ui/avatar";
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

/** The menu of the signed-in user: theme, account settings, API reference and signing out. */
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
        <Avatar name={name} className="size-6" />
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
        <DropdownMenuLink href={`/${workspace}/me`}>
          <Wallet aria-hidden="true" />
          Your spend and limits
        </DropdownMenuLink>
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
