/** How many answers the tabs of this browser may stream at once. */

// HTTP/1.1 allows six connections to a host, shared by all tabs: two stay free for everything else.
const SLOTS = 4;

/** Answers a function that gives the slot back, or null when all are taken. */
export async function takeSlot() {
  // Locks exist on secure origins only; elsewhere a hidden tab leaves the connections to others.
  if (!navigator.locks) return document.hidden ? null : () => {};
  for (let number = 0; number < SLOTS; number += 1) {
    const release = await lock(`brain-stream-${number}`);
    if (release) return release;
  }
  return null;
}

function lock(name) {
  return new Promise((resolve) => {
    const held = (granted) => {
      if (!granted) return resolve(null);
      return new Promise((release) => resolve(release));
    };
    navigator.locks.request(name, { ifAvailable: true }, held).catch(() => resolve(null));
  });
}
