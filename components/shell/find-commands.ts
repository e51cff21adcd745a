import type { LucideIcon } from "lucide-react";

/** Something that the command palette finds. `id` is unique among all; `group` is the heading it is listed under. */
export type PaletteCommand = {
  id: string;
  group: string;
  label: string;
  icon: LucideIcon;
  run: () => void;
};

/** The commands of a group that are listed, and how many there are. */
export type FoundGroup = { name: string; commands: PaletteCommand[]; total: number };

/** The most commands that are listed in a group. More text narrows them down. */
const maxListed = 50;

/**
 * The commands that have every word of the text in their group or label, by group. Groups and commands stay in their order,
 * except that labels that begin with the text come first.
 */
export function findCommands(
  commands: PaletteCommand[],
  text: string,
): { groups: FoundGroup[]; count: number } {
  const wanted = text.trim().toLowerCase();
  const words = wanted.split(/\s+/).filter(Boolean);
  const found = commands.filter(({ group, label }) => {
    const name = `${group} ${label}`.toLowerCase();
    return words.every((word) => name.includes(word));
  });
  const names = [...new Set(found.map(({ group }) => group))];
  const groups = names.map((name) => {
    const all = found.filter(({ group }) => group === name);
    const isFirst = ({ label }: PaletteCommand) => label.toLowerCase().startsWith(wanted);
    const sorted = [...all.filter(isFirst), ...all.filter((command) => !isFirst(command))];
    return { name, commands: sorted.slice(0, maxListed), total: all.length, startsSo: all.some(isFirst) };
  });
  const sorted = [
    ...groups.filter(({ startsSo }) => startsSo),
    ...groups.filter(({ startsSo }) => !startsSo),
  ];
  return {
    groups: sorted.map(({ name, commands: listed, total }) => ({ name, commands: listed, total })),
    count: found.length,
  };
}
