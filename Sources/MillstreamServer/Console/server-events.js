// Server-sent events.

const maximumRetryDelaySeconds = 15;

/**
 * Listens to `/api/events` for as long as the page is open and visible.
 *
 * Browsers permit six connections to a server, which the tabs of a window share.
 *
 * `onOpen()` is called on every (re)connection; events may have been missed, so the caller must load everything
 * again. `onAsset(asset)`, `onRemoved(id)` and `onEvicted(entry)` are called for the events of those names.
 * `onStateChange(state)` is called with "connected" or "reconnecting".
 */
export function followServerEvents({ onOpen, onAsset, onRemoved, onEvicted, onStateChange }) {
    let retryDelay = 1;
    let current;
    let retryTimer;
    if (!document.hidden) connect();
    document.addEventListener('visibilitychange', () => {
        clearTimeout(retryTimer);
        current?.close();
        current = undefined;
        if (!document.hidden) connect();
    });

    function connect() {
        const source = new EventSource('/api/events');
        current = source;
        source.addEventListener('open', () => {
            retryDelay = 1;
            onStateChange('connected');
            onOpen();
        });
        source.addEventListener('asset', (event) => onAsset(JSON.parse(event.data)));
        source.addEventListener('evicted', (event) => onEvicted(JSON.parse(event.data)));
        source.addEventListener('removed', (event) => onRemoved(JSON.parse(event.data).id));
        source.addEventListener('error', () => {
            onStateChange('reconnecting');
            // The browser reconnects by itself after a lost connection, but not after an error response
            // (for example, status 502 of a proxy in front of the server).
            if (source.readyState !== EventSource.CLOSED) return;
            retryTimer = setTimeout(connect, retryDelay * 1000);
            retryDelay = Math.min(retryDelay * 2, maximumRetryDelaySeconds);
        });
    }
}
