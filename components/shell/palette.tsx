"use client";

import { Search } from "lucide-react";
import { useEffect } from "react";
import { formatNumber } from "@/components/figures/format-count";
import { Command, CommandGroup, CommandInput, CommandItem, CommandList } from "@/components/ui/command";
import { findCommands, type PaletteCommand } from "./find-commands";
import { fieldLabel, look } from "./palette-look";
import { setPalette } from "./palette-state";
import { useCommands } from "./use-commands";
import type { ShellWorkspace } from "./workspace-switcher";

function choose(command: PaletteCommand): void {
  // Closes first, because closing returns the focus to where it was, and the command may move it.
  setPalette(false);
  command.run();
}

/**
 * The command palette: finds pages, everything that has a name, and actions by typing. Arrow keys move, Enter runs the command.
 * @param props.text the typed text, which may include text from before the palette was loaded
 * @param props.isEntered whether Enter was pressed after it: then the first command runs as soon as there is one
 */
export function Palette({
  current,
  workspaces,
  text,
  onTextChange,
  isEntered,
}: {
  current: ShellWorkspace;
  workspaces: ShellWorkspace[];
  text: string;
  onTextChange: (text: string) => void;
  isEntered: boolean;
}) {
  const { commands, isLoading, isSearching, problem } = useCommands(current, workspaces, text);
  const { groups, count } = findCommands(commands, text);
  const first = groups[0]?.commands[0];
  useEffect(() => {
    if (isEntered && first) choose(first);
  }, [isEntered, first]);

  return (
    <Command label={fieldLabel}>
      <div className={look.line}>
        <Search aria-hidden="true" className="size-4 shrink-0 text-muted-foreground" />
        <CommandInput
          autoFocus
          placeholder={fieldLabel}
          value={text}
          onValueChange={onTextChange}
          className={look.field}
        />
      </div>
      <CommandList label="Results" className={look.list}>
        {groups.map(({ name, commands: found, total }) => (
          <CommandGroup
            key={name}
            heading={
              found.length < total ? `${name}: ${formatNumber(found.length)} of ${formatNumber(total)}` : name
            }
          >
            {found.map((command) => (
              <CommandItem
                key={command.id}
                value={command.id}
                onSelect={() => choose(command)}
                className="min-h-10 py-1.5 sm:min-h-9"
              >
                <command.icon aria-hidden="true" className="size-4 shrink-0 text-muted-foreground" />
                <span dir="auto" className="line-clamp-3 min-w-0 flex-1 text-start [overflow-wrap:anywhere]">
                  {command.label}
                </span>
              </CommandItem>
            ))}
          </CommandGroup>
        ))}
      </CommandList>
      <p role="status" className="border-t px-4 py-2.5 text-muted-foreground text-sm">
        {countInWords(count, isLoading || (isSearching && count === 0), problem)}
      </p>
    </Command>
  );
}

function countInWords(count: number, isLoading: boolean, problem: string | undefined): string {
  if (problem) return `Not everything could be loaded. ${problem}`;
  if (isLoading) return "Loading names…";
  return count === 0 ? "Nothing found" : `${formatNumber(count)} found`;
}
