/** The one component: rows of the frame, drawn from the state. */
import { Box, Transform } from "ink";
import { memo, useMemo, useSyncExternalStore } from "react";
import { drawFrame } from "./screens/frame.ts";
import type { Session } from "./session.ts";
import { ticketWidth } from "./terminal/tickets.ts";
import { toAnsi } from "./text/palette.ts";

const blank = " ".repeat(ticketWidth);

/** One row. Its text is the same for ink, always; what is written in its place is the ticket. */
const Row = memo(function Row({ ticket }: { readonly ticket: string }) {
  return <Transform transform={() => ticket}>{blank}</Transform>;
});

export function App({ session }: { readonly session: Session }) {
  const state = useSyncExternalStore(session.subscribeToDraw, session.drawn);
  const tickets = useMemo(() => {
    const look = { ...session.look, stale: state.store.down !== null };
    const lines = drawFrame(state);
    // What tells that it is old must be seen itself: header, reason and bar keep their colours.
    const live = (i: number) => !look.stale || i < 2 || i === lines.length - 1;
    return session.tickets.frame(lines.map((one, i) => toAnsi(one, live(i) ? session.look : look)));
  }, [state, session]);
  return (
    <Box flexDirection="column" width={ticketWidth} height={tickets.length}>
      {tickets.map((ticket, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a row is its place on the screen
        <Row key={i} ticket={ticket} />
      ))}
    </Box>
  );
}
