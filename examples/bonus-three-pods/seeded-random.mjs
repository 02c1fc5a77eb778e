/** Random numbers that a seed repeats (xorshift32). */
export function seededRandom(seed) {
  let state = (seed * 2_654_435_761) >>> 0 || 1;
  const next = () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    state >>>= 0;
    return state;
  };
  return { below: (limit) => next() % limit };
}
