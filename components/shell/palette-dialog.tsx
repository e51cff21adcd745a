"use client";

import {
  BookOpen,
  Folder,
  KeyRound,
  type LucideIcon,
  Plus,
  Search,
  SunMoon,
  Tag,
  User,
  Users,
} from "lucide-react";
import { useRouter } from "next/navigation";
import { useState } from "react";
import { cn } from "@/components/cn";
import { Dialog, DialogContent, DialogTitle } from "@/components/ui/dialog";
import { useListbox } from "@/components/ui/use-listbox";
import { navigation, pageHref, subpages } from "./navigation";
import { setPalette } from "./palette-state";
import { type NamedThing, useNamedThings } from "./use-named-things";
import { useProjectList } from "./use-project-list";
import { themeChoices, useThemeChoice } from "./use-theme-choice";
import type { ShellWorkspace } from "./workspace-switcher";

/** `id` tells two of one name apart. */
type Command = { group: string; label: string; id?: string; icon: LucideIcon; run: () => void };

const iconOf: Record<NamedThing["kind"], LucideIcon> = {
  Key: KeyRound,
  Member: Users,
  Feature: Tag,
  Person: User,
};

const close = () => setPalette(false);

/** The command palette: finds pages, projects, workspaces and actions by typing. Arrow keys move, Enter runs the command. */
export default function PaletteDialog(props: { current: ShellWorkspace; workspaces: ShellWorkspace[] }) {
  return (
    <Dialog open onOpenChange={close}>
      <DialogContent className="mt-0 rounded-t-none rounded-b-xl sm:mt-[12dvh] sm:rounded-xl [&>div>button:last-child]:hidden [&>div]:gap-0 [&>div]:p-0">
        <DialogTitle className="sr-only">Search</DialogTitle>
        <Palette {...props} />
      </DialogContent>
    </Dialog>
  );
}

function Palette({ current, workspaces }: { current: ShellWorkspace; workspaces: ShellWorkspace[] }) {
  const [text, setText] = useState("");
  const commands = useCommands(current, workspaces);
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const found = commands.filter(({ group, label }) => {
    const name = `${group} ${label}`.toLowerCase();
    return words.every((word) => name.includes(word));
  });
  const listbox = useListbox({
    count: found.length,
    onChoose: (index) => {
      close();
      found[index]?.run();
    },
  });

  return (
    <>
      <div className="flex items-center gap-2.5 border-b px-4">
        <Search aria-hidden="true" className="size-4 shrink-0 text-muted-foreground" />
        <input
          aria-label="Search pages, projects and actions"
          placeholder="Search pages, projects and actions"
          value={text}
          onChange={({ currentTarget }) => {
            setText(currentTarget.value);
            listbox.reset();
          }}
          className="h-12 w-full min-w-0 bg-transparent text-base outline-none placeholder:text-muted-foreground sm:text-sm"
          {...listbox.inputProps}
        />
      </div>
      <div
        {...listbox.listProps("Results")}
        className="h-[min(22rem,60dvh)] scroll-py-1.5 overflow-y-auto p-1.5"
      >
        {found.map((command, index) => (
          <div
            key={`${command.group} ${command.label} ${command.id}`}
            {...listbox.optionProps(index)}
            className={cn(
              "flex h-10 cursor-pointer items-center gap-2.5 rounded-md px-2.5 text-sm sm:h-9",
              index === listbox.active && "bg-accent",
            )}
          >
            <command.icon aria-hidden="true" className="size-4 shrink-0 text-muted-foreground" />
            <span className="min-w-0 flex-1 truncate">{command.label}</span>
            <span className="text-muted-foreground text-xs">{command.group}</span>
          </div>
        ))}
      </div>
      <p role="status" className={found.length === 0 ? "px-4 pb-4 text-muted-foreground text-sm" : "sr-only"}>
        {found.length === 0 ? "Nothing found" : `${found.length} found`}
      </p>
    </>
  );
}

function useCommands(current: ShellWorkspace, workspaces: ShellWorkspace[]): Command[] {
  const router = useRouter();
  const { theme, setTheme } = useThemeChoice();
  const projects = useProjectList(current.slug);
  const things = useNamedThings(current.slug);
  const goTo = (href: string) => () => router.push(href);
  return [
    ...navigation.map(({ segment, label, icon }) => ({
      group: "Page",
      label,
      icon,
      run: goTo(pageHref(current.slug, segment)),
    })),
    ...projects.map(({ slug, name }) => ({
      group: "Project",
      label: name,
      icon: Folder,
      run: goTo(`/${current.slug}/projects/${slug}`),
    })),
    ...subpages.map(({ segment, label, icon }) => ({
      group: "Page",
      label,
      icon,
      run: goTo(pageHref(current.slug, segment)),
    })),
    ...things.map(({ kind, name, id, href }) => ({
      ...{ group: kind, label: name, id, icon: iconOf[kind] },
      run: goTo(href),
    })),
    ...workspaces
      .filter(({ slug }) => slug !== current.slug)
      .map(({ slug, name }) => ({ group: "Workspace", label: name, icon: Users, run: goTo(`/${slug}`) })),
    { group: "Action", label: "New workspace", icon: Plus, run: goTo("/workspaces/new") },
    { group: "Action", label: "API reference", icon: BookOpen, run: () => location.assign("/docs") },
    ...themeChoices
      .filter(({ value }) => value !== theme)
      .map(({ value, label }) => ({ group: "Theme", label, icon: SunMoon, run: () => setTheme(value) })),
  ];
}
