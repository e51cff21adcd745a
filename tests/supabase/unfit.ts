/** Why tests cannot run where a Supabase project signs people in: by the file, or by `file > name of the test`. */
export const unfit: Record<string, string> = {};
