/** A reply as the gather script would write it. */

/** @param sections text by name of the section, or with the status of its command */
export function replyOf(
  nonce: string,
  sections: Readonly<Record<string, string | { readonly text: string; readonly status: string }>>,
): string {
  const parts = Object.entries(sections).map(([name, one]) => {
    const { text, status } = typeof one === "string" ? { text: one, status: "0" } : one;
    return `${nonce} section ${name} ${status} ${text.length} \n${text}\n${nonce} close ${name}\n`;
  });
  return `${nonce} begin 1 0\n${parts.join("")}${nonce} end ${parts.length}\n`;
}
