// The cause of a playback failure. The error of a video element has little detail, so the playlists are fetched again.

import { fetchFaults, parseError, unreachableError } from './api.js';
import { errorDescription } from './error-message.js';

const maximumMediaPlaylists = 4;
const codecHint = 'This browser might not support the codecs. '
    + 'Select other qualities, or open the playback URL in another player.';
const corsHint = 'The origin might not allow cross-origin requests (CORS) for its segments. '
    + 'In this case, proxy the segments through this server.';

/**
 * Returns `{message, hint, url, offersProxy, offersOffline}`: sentences for the user, and whether proxied segments or
 * the offline copy may help.
 */
export async function diagnosePlaybackError(url, mediaError, { origin, isProxied }) {
    const error = await playlistError(url);
    const faultHint = await simulatedFaultHint();
    if (error?.code === 'simulated') {
        return { ...errorDescription(error), hint: faultHint, offersProxy: false, offersOffline: false };
    }
    if (error) {
        // Status 400 is caused by the edits; and a server that does not respond cannot play offline copies.
        return { ...errorDescription(error), offersProxy: false, offersOffline: error.status > 400 };
    }
    if (origin === 'offline') {
        return {
            message: 'The offline copy cannot be played.',
            hint: `This browser might not support its codecs. ${browserMessage(mediaError)}`,
            offersProxy: false,
            offersOffline: false,
        };
    }
    if (faultHint) {
        return {
            message: 'The playlists were loaded, but the media cannot be played.',
            hint: `${faultHint} ${browserMessage(mediaError)}`,
            offersProxy: false,
            offersOffline: false,
        };
    }
    return {
        message: 'The playlists were loaded, but the media cannot be played.',
        hint: `${isProxied ? codecHint : corsHint} ${browserMessage(mediaError)}`,
        offersProxy: !isProxied,
        offersOffline: true,
    };
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

/** Returns the error of the playlist or of one of its media playlists, or `undefined` if all can be loaded. */
async function playlistError(url) {
    try {
        const response = await fetch(url, { cache: 'no-store' });
        if (!response.ok) return await parseError(response);
        const text = await response.text();
        if (!text.trimStart().startsWith('#EXTM3U')) return { message: 'The server response is not a playlist.' };
        for (const mediaPlaylistURL of mediaPlaylistURLs(text, url)) {
            const mediaResponse = await fetch(mediaPlaylistURL, { cache: 'no-store' });
            if (!mediaResponse.ok) return await parseError(mediaResponse);
            await mediaResponse.body?.cancel();
        }
    } catch {
        return unreachableError();
    }
    return undefined;
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
