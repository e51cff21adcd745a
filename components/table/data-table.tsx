"use client";

import dynamic from "next/dynamic";
import { onDemand } from "@/components/connection/on-demand";
import type { LoadedTable } from "./loaded-table";

/**
 * A list as a table that can be sorted, searched and saved as a CSV, with a choice of columns and density. Arrow keys,
 * Home and End move between rows. It has all rows of the list: lists that the server pages are not sorted or searched here.
 *
 * The server renders it. Its script is loaded separately, so that the page handles input before.
 */
export const DataTable = dynamic(
  onDemand(() => import("./loaded-table").then((module) => module.LoadedTable)),
) as typeof LoadedTable;
