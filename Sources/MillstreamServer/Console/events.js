// The server's events, followed for as long as the page is open.

const longestPause = 15;

/**
 * Follows `/api/events`.
 *
 * `opened()` is called on each (re)connection: what happened in between was missed, so the caller reads again.
 * `asset(asset)` and `removed(id)` are the events; `changed(state)` gets "connected" or "reconnecting".
 */
export function followEvents({ opened, asset, removed, changed }) {
    let pause = 1;
    connect();

    function connect() {
        const source = new EventSource('/api/events');
        source.addEventListener('open', () => {
            pause = 1;
            changed('connected');
            opened();
        });
        source.addEventListener('asset', (event) => asset(JSON.parse(event.data)));
        source.addEventListener('removed', (event) => removed(JSON.parse(event.data).id));
        source.addEventListener('error', () => {
            changed('reconnecting');
            // The browser tries again by itself after a lost connection, but not after an answer it did not like
            // (a 502 of something in front of the server, say).
            if (source.readyState !== EventSource.CLOSED) return;
            setTimeout(connect, pause * 1000);
            pause = Math.min(pause * 2, longestPause);
        });
    }
}
