/** Id of the element that gets the focus when a person leaves the page. */
export const peopleId = "people";
