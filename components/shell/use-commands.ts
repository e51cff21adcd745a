"use client";

import {
  BookOpen,
  Folder,
  KeyRound,
  Layers,
  type LucideIcon,
  Plus,
  SunMoon,
  Tag,
  User,
  Users,
} from "lucide-react";
import { useRouter } from "next/navigation";
import type { PaletteCommand } from "./find-commands";
import { navigation, pageHref, subpages } from "./navigation";
import { type NamedThing, useNamedThings } from "./use-named-things";
import { themeChoices, useThemeChoice } from "./use-theme-choice";
import type { ShellWorkspace } from "./workspace-switcher";

const groupOf: Record<NamedThing["kind"], { group: string; icon: LucideIcon }> = {
  Project: { group: "Projects", icon: Folder },
  Key: { group: "Keys", icon: KeyRound },
  Member: { group: "Members", icon: Users },
  Feature: { group: "Features", icon: Tag },
  Person: { group: "People", icon: User },
};

/**
 * Everything that the command palette finds.
 * @param text the typed text
 * @returns `isLoading` while names are being read; `isSearching` while the service searches names by the text; `problem` if some
 *   names could not be read
 */
export function useCommands(
  current: ShellWorkspace,
  workspaces: ShellWorkspace[],
  text: string,
): { commands: PaletteCommand[]; isLoading: boolean; isSearching: boolean; problem: string | undefined } {
  const router = useRouter();
  const { theme, setTheme } = useThemeChoice();
  const { things, ...state } = useNamedThings(current.slug, text);
  const goTo = (href: string) => () => router.push(href);
  const commands = [
    ...[...navigation, ...subpages].map(({ segment, label, icon }) => ({
      ...{ id: `page ${segment}`, group: "Pages", label, icon },
      run: goTo(pageHref(current.slug, segment)),
    })),
    ...things.map(({ kind, name, id, href }) => ({
      ...{ id: `${kind} ${id}`, label: name, run: goTo(href) },
      ...groupOf[kind],
    })),
    ...workspaces
      .filter(({ slug }) => slug !== current.slug)
      .map(({ slug, name }) => ({
        ...{ id: `workspace ${slug}`, group: "Workspaces", label: name, icon: Layers },
        run: goTo(`/${slug}`),
      })),
    {
      id: "new workspace",
      group: "Actions",
      label: "New workspace",
      icon: Plus,
      run: goTo("/workspaces/new"),
    },
    {
      ...{ id: "reference", group: "Actions", label: "API reference", icon: BookOpen },
      run: () => location.assign("/docs"),
    },
    ...themeChoices
      .filter(({ value }) => value !== theme)
      .map(({ value, label }) => ({
        ...{ id: `theme ${value}`, group: "Theme", label, icon: SunMoon },
        run: () => setTheme(value),
      })),
  ];
  return { commands, ...state };
}
