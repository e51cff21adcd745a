/** Id of the element that gets the focus when a recommendation leaves its list. */
export const recommendationsId = "recommendations";
