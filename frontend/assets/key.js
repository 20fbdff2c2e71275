/** The key of a question: the same key is the same turn, however often it is sent. */

export function newKey() {
  if (crypto.randomUUID) return crypto.randomUUID();
  // Insecure origins have random values, but no randomUUID.
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
