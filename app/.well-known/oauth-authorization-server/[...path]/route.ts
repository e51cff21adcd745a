import { serverMetadata } from "@/lib/http/oauth-metadata";

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = serverMetadata;
