// The playlists, segments and subtitles of a playback URL, which the server reads and converts for this page
// (docs/formats/console-api.md).

import { parseError, unreachableError } from './api.js';

/** Returns the URL for a part of the playback URL `address`, a path on this server. */
function requestURL(name, address, parameters = {}) {
    return `/api/playback/${name}?${new URLSearchParams({ address, ...parameters })}`;
}

async function request(url, signal) {
    let response;
    try {
        response = await fetch(url, { signal });
    } catch (error) {
        if (error.name === 'AbortError') throw error;
        throw unreachableError();
    }
    if (!response.ok) throw await parseError(response);
    return response;
}

/**
 * Fetches the report of a playlist: `{type: "multivariant", variants, renditions}` or `{type: "media", ended, targetDuration,
 * start, segments}`.
 */
export async function fetchPlaylist(address, signal) {
    return (await request(requestURL('playlist', address), signal)).json();
}

/** Fetches a segment as a movie fragment: `{bytes, type, timestamp}`. */
export async function fetchSegment(address, sequence, signal) {
    const response = await request(requestURL('segment', address, { segment: sequence }), signal);
    return {
        type: response.headers.get('Content-Type'),
        timestamp: Number(response.headers.get('Millstream-First-Timestamp')),
        bytes: await response.arrayBuffer(),
    };
}

/** Fetches the first timestamp of a segment, in seconds. */
export async function fetchTimestamp(address, sequence, signal) {
    return (await (await request(requestURL('timestamp', address, { segment: sequence }), signal)).json()).timestamp;
}

/** Fetches the cues of a subtitle segment that starts at `start`; `offset` is added to timestamps of the media. */
export async function fetchCues(address, sequence, { start, offset }, signal) {
    const parameters = { segment: sequence, start, ...(offset === undefined ? {} : { offset }) };
    return (await (await request(requestURL('cues', address, parameters), signal)).json()).cues;
}

/** Returns the playback URL of this server as the path by which the server identifies it. */
export function playbackPath(url) {
    const { pathname, search } = new URL(url, location.href);
    return pathname + search;
}

/** Returns after a time, or earlier if `signal` is aborted. */
export function delay(milliseconds, signal) {
    return new Promise((resolve) => {
        const end = () => {
            clearTimeout(timer);
            signal?.removeEventListener('abort', end);
            resolve();
        };
        const timer = setTimeout(end, milliseconds);
        signal?.addEventListener('abort', end);
    });
}
