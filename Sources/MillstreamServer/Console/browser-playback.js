// The playlists, segments and subtitles of a playback URL, which the server reads and converts for this page
// (docs/formats/console-api.md).

import { interruptionError, parseError, ServerError, unreachableError } from './api.js';
import { sourceURL } from './playback-url.js';
import { fetchSimulatedConditions } from './simulated-network.js';

/** The pause before a request that a simulated network did not deliver is sent again. */
const outagePauseMilliseconds = 1000;
/** The time after which an interruption is that of a simulated network, which stalls for a minute; others come earlier. */
const minimumOutageMilliseconds = 45_000;

/** Returns the URL for a part of the playback URL `address`, a path on this server. */
function requestURL(name, address, parameters) {
    return `/api/playback/${name}?${new URLSearchParams({ address, ...parameters })}`;
}

/**
 * Requests a part of the playback URL `address`, and returns what `read` reads from the response.
 *
 * What a simulated network does not deliver is requested again, until `signal` is aborted or other conditions are selected. A response
 * that is not complete is requested again only once: the origin can be the cause.
 */
async function request(name, address, parameters, signal, read = (response) => response.json()) {
    const url = requestURL(name, address, parameters);
    let isInterrupted = false;
    while (true) {
        const start = performance.now();
        let response;
        try {
            response = await fetch(url, { signal });
            if (!response.ok) throw await parseError(response);
            return await read(response);
        } catch (error) {
            if (error.name === 'AbortError') throw error;
            // A response that is no JSON.
            if (error instanceof SyntaxError) throw resourceError(unexpectedContentError(response), address, parameters);
            if (error instanceof ServerError) throw resourceError(error, address, parameters);
            const isOutage = signal && !(response && isInterrupted) && performance.now() - start > minimumOutageMilliseconds
                && await fetchSimulatedConditions(address) !== undefined;
            if (!isOutage) throw resourceError(response ? interruptionError() : unreachableError(), address, parameters);
            isInterrupted ||= response !== undefined;
            await delay(outagePauseMilliseconds, signal);
        }
    }
}

/** Returns an error with the URL of the playlist that it concerns, and with the media sequence number of the segment. */
function resourceError(error, address, { segment }) {
    return Object.assign(error, { resource: { url: sourceURL(address), segment } });
}

/** Returns the error for a response with other content than that of the server. */
function unexpectedContentError(response) {
    const type = response.headers.get('Content-Type') ?? 'content without a type';
    return new ServerError({
        code: 'unexpected-content',
        message: `The response has the status ${response.status}, but is ${type}.`,
        hint: 'A proxy between this page and the server can be the cause.',
    }, response.status);
}

/**
 * Fetches the report of a playlist: `{type: "multivariant", variants, renditions}` or `{type: "media", ended, targetDuration,
 * start, segments}`.
 */
export function fetchPlaylist(address, signal) {
    return request('playlist', address, {}, signal);
}

/** Fetches a segment as a movie fragment: `{bytes, type, timestamp}`. */
export function fetchSegment(address, sequence, signal) {
    return request('segment', address, { segment: sequence }, signal, async (response) => {
        const type = response.headers.get('Content-Type') ?? '';
        if (!/^(video|audio)\/mp4\b/.test(type)) throw unexpectedContentError(response);
        const timestamp = Number(response.headers.get('Millstream-First-Timestamp'));
        return { type, timestamp, bytes: await response.arrayBuffer() };
    });
}

/** Fetches the first timestamp of a segment, in seconds. */
export async function fetchTimestamp(address, sequence, signal) {
    return (await request('timestamp', address, { segment: sequence }, signal)).timestamp;
}

/** Fetches the cues of a subtitle segment that starts at `start`; `offset` is added to timestamps of the media. */
export async function fetchCues(address, sequence, { start, offset }, signal) {
    const parameters = { segment: sequence, start, ...(offset === undefined ? {} : { offset }) };
    return (await request('cues', address, parameters, signal)).cues;
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
