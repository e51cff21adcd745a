/** Id of a request's row on the page of requests, which mails and messages link to. It can have the focus. */
export const requestRowId = (id: string): string => `request-${id}`;
