// Why something does not play. A video element only says that it gave up, so the playlists are asked.

import { errorOf } from './api.js';

const mostChildren = 4;
const codecHint = 'This browser may not have the codecs. '
    + 'Try other qualities, or another player with the address below.';
const originHint = 'The origin may not allow other sites to read its segments (CORS). '
    + 'Sending them through this server helps then.';

/** `{message, hint, offerProxy}` for a person. */
export async function explainFailure(address, mediaError, { origin, proxied }) {
    const refusal = await refusalOf(address);
    if (refusal) return { message: refusal.message, hint: refusal.hint, offerProxy: false };
    if (origin === 'kept') {
        return {
            message: 'The kept copy could not be played',
            hint: `It may hold a codec this browser does not have. ${detailOf(mediaError)}`,
            offerProxy: false,
        };
    }
    return {
        message: 'The playlists can be read, but their media cannot be played',
        hint: `${proxied ? codecHint : originHint} ${detailOf(mediaError)}`,
        offerProxy: !proxied,
    };
}

/** The server's error for the playlist or for one of those it names; nothing when all can be read. */
async function refusalOf(address) {
    try {
        const response = await fetch(address, { cache: 'no-store' });
        if (!response.ok) return await errorOf(response);
        const text = await response.text();
        if (!text.trimStart().startsWith('#EXTM3U')) return { message: 'What the server answered is not a playlist' };
        for (const child of childrenOf(text, address)) {
            const answer = await fetch(child, { cache: 'no-store' });
            if (!answer.ok) return await errorOf(answer);
            await answer.body?.cancel();
        }
    } catch {
        return { message: 'The server does not answer', hint: 'See whether “millstream serve” is still running' };
    }
    return undefined;
}

/** The media playlists of a multivariant one, as far as this server answers them. */
function childrenOf(text, address) {
    if (!text.includes('#EXT-X-STREAM-INF')) return [];
    return text.split(/\r?\n/)
        .filter((line) => line.trim() && !line.startsWith('#'))
        .map((line) => new URL(line.trim(), address))
        .filter((url) => url.origin === location.origin)
        .slice(0, mostChildren);
}

function detailOf(mediaError) {
    return mediaError?.message ? `The browser says: ${mediaError.message.replace('PipelineStatus::', '')}.` : '';
}
