// The cause of a playback failure. The error of a video element has little detail, so the playlists are fetched again.

import { fetchFaults, interruptionError, parseError, ServerError, unreachableError } from './api.js';
import { errorDescription } from './error-message.js';
import { sourceURL } from './playback-url.js';
import { fetchSimulatedConditions } from './simulated-network.js';

const maximumMediaPlaylists = 4;
/** The time for which the beginning of each response over a simulated network is awaited. */
const outageMilliseconds = 20_000;
const fileCodecHint = 'This browser might not support the format or the codecs of the file.';
const fileOriginHint = 'The origin might also not allow cross-origin requests (CORS). '
    + 'In this case, load the file through this server.';
const streamCodecHint = 'This browser might not support the codecs. '
    + 'Select other qualities, or open the playback URL in another player.';
const interruptionHint = 'The media could not be read after an interruption or because it is damaged. '
    + 'Select “Try again” to continue at the position.';
const corsHint = 'The origin might not allow cross-origin requests (CORS) for its segments. '
    + 'In this case, proxy the segments through this server.';
const connectionHint = 'Check that the origin is running and can be reached from this server, then try again.';
const originHint = 'The origin does not deliver what its playlist lists. Check the URL at the origin, then try again.';

/** The next step for errors of playback by the page that have no hint, by their code. */
const hintsByCode = {
    'http-status': originHint,
    'cannot-connect': connectionHint, 'timed-out': connectionHint, 'unknown-host': connectionHint, 'connection-lost': connectionHint,
    'stuck-playlist': 'The encoder or the origin of the live stream may have stopped. Check them, then try again.',
    'unsupported-codecs': 'Select other qualities, or open the playback URL in another player.',
    'unreadable-media': `The segment can be damaged. ${streamCodecHint}`,
};

/** The codes of errors that a simulated fault can cause. */
const codesOfFaults = ['simulated', 'unreachable', 'unexpected-content', 'interrupted', 'unreadable-media'];

/** An error of playback by the page that has no response of the server. */
export class PlaybackError extends Error {
    constructor(code, message) {
        super(message);
        this.code = code;
    }
}

/** Returns the error of playback by the page as `diagnosePlaybackError` does; `error` has the `resource` that it concerns. */
export async function diagnosePageError(error, mediaError, { origin, hasPlayed }) {
    const { resource } = error;
    const faultHint = codesOfFaults.includes(error.code) ? await simulatedFaultHint() : undefined;
    const { message, hint, url } = errorDescription(error);
    const reason = error.code === 'unreadable-media' ? browserMessage(mediaError) : '';
    // The browser supports the codecs of what it has played.
    const codeHint = hasPlayed && error.code === 'unreadable-media' ? interruptionHint : hintsByCode[error.code];
    const advice = faultHint ?? hint ?? codeHint;
    // A message with the URL of the segment needs no number.
    const subject = resource?.segment === undefined || url ? '' : `Segment ${resource.segment} of the playlist cannot be played. `;
    return {
        message: subject + message,
        hint: [advice, reason].filter(Boolean).join(' ') || undefined,
        url: url ?? resource?.url,
        isRefused: error.status === 400,
        offersProxy: false,
        offersOffline: origin === 'remote' && error.code !== 'unreachable',
    };
}

/**
 * Returns `{message, hint, url, isRefused, offersProxy, offersOffline, conditions}`: sentences for the user, whether the server refuses
 * the request, as for a wrong value of an edit, whether proxied segments or the offline copy may help, and the network conditions that
 * deliver nothing, if they are the cause. `hasPlayed` is whether the browser has played the stream before.
 */
export async function diagnosePlaybackError(url, mediaError, { origin, isFile, isProxied, hasPlayed }) {
    const conditions = await fetchSimulatedConditions(url);
    const resource = await findError(isFile ? examineFile : examinePlaylists, url, conditions);
    const { error } = resource;
    const faultHint = await simulatedFaultHint();
    if (resource.isOutage) {
        const quantity = resource.hasResponse ? 'Too little' : 'Nothing';
        return {
            message: `${quantity} arrives ${faultHint ? 'from the server' : `over the simulated network “${conditions}”`}.`,
            hint: faultHint ?? 'Playback continues when you select other network conditions.',
            conditions,
            offersProxy: false,
            offersOffline: false,
        };
    }
    if (error?.code === 'simulated' || (faultHint && error?.status === 0)) {
        const { message, url = error.resource?.url } = errorDescription(error);
        return { message, url, hint: faultHint, offersProxy: false, offersOffline: false };
    }
    if (error) {
        // Status 400 is caused by the edits; and a server that does not respond cannot play offline copies.
        const isRefused = error.status === 400;
        return { ...errorDescription(error), isRefused, offersProxy: false, offersOffline: error.status > 400 };
    }
    const reason = browserMessage(mediaError);
    if (origin === 'offline') {
        return {
            message: 'The offline copy cannot be played.',
            hint: `This browser might not support its codecs. ${reason}`,
            offersProxy: false,
            offersOffline: false,
        };
    }
    const message = isFile ? 'The media file cannot be played.' : 'The playlists were loaded, but the media cannot be played.';
    if (faultHint) return { message, hint: `${faultHint} ${reason}`, offersProxy: false, offersOffline: false };
    const isFromServer = isFile ? !resource.isRedirected : isProxied;
    const hint = isFile ? [fileCodecHint, isFromServer ? '' : fileOriginHint].filter(Boolean).join(' ')
        : !isFromServer ? corsHint : hasPlayed ? interruptionHint : streamCodecHint;
    return {
        message,
        hint: `${hint} ${reason}`,
        offersProxy: !isFromServer,
        offersOffline: true,
    };
}

/** Returns the error with which the server delivers a playlist of a playback URL at present, or `undefined` if it delivers all of them. */
export async function fetchPlaylistError(url) {
    return (await findError(examinePlaylists, url, undefined)).error;
}

/**
 * Returns what `examine` finds at a URL, `{error, isRedirected}`, or `{isOutage: true, hasResponse}` if the network with simulated
 * `conditions` does not deliver a response in time; `hasResponse` is whether it delivered an earlier one.
 */
async function findError(examine, url, conditions) {
    let hasResponse = false;
    const request = async (requestedURL, options) => {
        const controller = new AbortController();
        const timer = conditions === undefined ? undefined
            : setTimeout(() => controller.abort(new DOMException('', 'TimeoutError')), outageMilliseconds);
        try {
            const response = await fetch(requestedURL, { cache: 'no-store', ...options, signal: controller.signal });
            hasResponse = true;
            return response;
        } finally {
            // A slow network may take longer for the rest.
            clearTimeout(timer);
        }
    };
    try {
        return await examine(url, request);
    } catch (error) {
        if (error instanceof ServerError) return { error };
        if (error.name === 'TimeoutError') return { isOutage: true, hasResponse };
        // The server has told its conditions, so it is running.
        return { error: hasResponse || conditions !== undefined ? interruptionError() : unreachableError() };
    }
}

/** Returns a hint about the faults that the server simulates, or `undefined` if it simulates none. */
async function simulatedFaultHint() {
    try {
        const { length } = await fetchFaults();
        if (length === 0) return undefined;
        return `The server simulates ${length === 1 ? 'a fault' : `${length} faults`}, which can be the cause. `
            + 'Remove simulated faults under “Simulated faults” to play without them.';
    } catch {
        return undefined;
    }
}

/** Loads a playlist and its media playlists. */
async function examinePlaylists(url, request) {
    const response = await request(url);
    if (!response.ok) throw await errorOfResource(response, url);
    const text = await response.text();
    if (!text.trimStart().startsWith('#EXTM3U')) throw new ServerError({ message: 'The server response is not a playlist.' });
    for (const mediaPlaylistURL of mediaPlaylistURLs(text, url)) {
        const mediaResponse = await request(mediaPlaylistURL);
        if (!mediaResponse.ok) throw await errorOfResource(mediaResponse, mediaPlaylistURL);
        await mediaResponse.body?.cancel();
    }
    return {};
}

/** Loads the first byte of a media file, unless the server redirects to its origin, from which this page cannot load. */
async function examineFile(url, request) {
    // An offline copy is redirected on this server.
    const redirect = new URL(url).pathname.startsWith('/offline/') ? 'follow' : 'manual';
    const response = await request(url, { redirect, headers: { Range: 'bytes=0-0' } });
    if (response.type === 'opaqueredirect') return { isRedirected: true };
    if (!response.ok) throw await errorOfResource(response, url);
    await response.body?.cancel();
    return { isRedirected: false };
}

async function errorOfResource(response, url) {
    return Object.assign(await parseError(response), { resource: { url: sourceURL(url) } });
}

/** Returns the URLs of the media playlists of a multivariant playlist that are on this server. */
function mediaPlaylistURLs(text, baseURL) {
    if (!text.includes('#EXT-X-STREAM-INF')) return [];
    return text.split(/\r?\n/)
        .filter((line) => line.trim() && !line.startsWith('#'))
        .map((line) => new URL(line.trim(), baseURL))
        .filter((url) => url.origin === location.origin)
        .slice(0, maximumMediaPlaylists);
}

function browserMessage(mediaError) {
    const message = mediaError?.message?.replace('PipelineStatus::', '');
    return message ? `Browser message: ${message.replace(/\.$/, '')}.` : '';
}
