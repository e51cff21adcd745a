"use client";

import { Archive, ArchiveRestore, Pencil } from "lucide-react";
import { useState } from "react";
import { callApi } from "@/components/requests/api";
import { useMutation } from "@/components/requests/use-mutation";
import { ActionsMenu } from "@/components/ui/actions-menu";
import { ConfirmDialog } from "@/components/ui/confirm-dialog";
import { DropdownMenuItem } from "@/components/ui/dropdown-menu";
import { toast } from "@/components/ui/toaster";
import type { project as projectSchema, updateProjectRequest } from "@/lib/contract/spend/projects";
import { RenameProject } from "./rename-project";

/** The fields of a project that its menu needs. */
export type EditableProject = { slug: string; name: string; isArchived: boolean };

/** The menu of a project: rename it, archive it after a confirmation, or restore it. */
export function ProjectActions({ workspace, project }: { workspace: string; project: EditableProject }) {
  const [dialog, setDialog] = useState<"rename" | "archive">();
  const setArchived = (archived: boolean) =>
    callApi<typeof projectSchema, typeof updateProjectRequest>(
      "PATCH",
      `/api/v1/workspaces/${workspace}/projects/${project.slug}`,
      { archived },
    );
  const restoration = useMutation(() => setArchived(false), { done: `${project.name} is restored.` });
  const archive = async () => {
    await setArchived(true);
    toast(`${project.name} is archived.`, { label: "Undo", run: restoration.run });
  };
  const close = () => setDialog(undefined);
  return (
    <>
      <ActionsMenu name={project.name} outlined className="size-8">
        <DropdownMenuItem onSelect={() => setDialog("rename")}>
          <Pencil aria-hidden="true" />
          Rename
        </DropdownMenuItem>
        {project.isArchived ? (
          <DropdownMenuItem onSelect={restoration.run}>
            <ArchiveRestore aria-hidden="true" />
            Restore
          </DropdownMenuItem>
        ) : (
          <DropdownMenuItem onSelect={() => setDialog("archive")}>
            <Archive aria-hidden="true" />
            Archive
          </DropdownMenuItem>
        )}
      </ActionsMenu>
      <RenameProject
        open={dialog === "rename"}
        onClose={close}
        workspace={workspace}
        slug={project.slug}
        name={project.name}
      />
      <ConfirmDialog
        open={dialog === "archive"}
        onOpenChange={close}
        title={`Archive ${project.name}?`}
        confirm="Archive"
        destructive={false}
        onConfirm={archive}
      >
        Archived projects are not offered when you choose a project. The project's spend stays in every total,
        and messages to <strong>{project.slug}</strong> are still recorded. You can restore it at any time.
      </ConfirmDialog>
    </>
  );
}
